/* frame_thumb.h - the frame of Thumb code that clang compiles with -fno-omit-frame-pointer: the frame record of
 * AAPCS32 2022Q3, section 6.2.1.4 "The Frame Pointer", through r7 (LLVM, ARMSubtarget::getFramePointerReg).  gcc
 * lets r7 point to the lower end of the frame, which tells nothing (GCC bug 92172): there prologue.c helps. */
#ifndef LEAKWRAP_ARCH_FRAME_THUMB_H
#define LEAKWRAP_ARCH_FRAME_THUMB_H

#define LEAKWRAP_THUMB_RETURN    4 /* return address, from r7 */
#define LEAKWRAP_THUMB_PREVIOUS  0 /* the caller's r7 */
#define LEAKWRAP_THUMB_CALLER_SP 8 /* the caller's stack pointer, or less */

#endif
