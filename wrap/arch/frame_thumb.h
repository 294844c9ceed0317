/* frame_thumb.h - the frame of Thumb code that clang compiles with -fno-omit-frame-pointer.
 * Source: AAPCS32 2022Q3, section 6.2.1.4 "The Frame Pointer", the frame record, with r7 as the
 * frame pointer (LLVM, ARMSubtarget::getFramePointerReg).  gcc lets r7 point to the lower end of
 * the frame, which does not lead to the caller's frame (GCC bug 92172).  For its code prologue.c
 * finds the rule. */
#ifndef LEAKWRAP_ARCH_FRAME_THUMB_H
#define LEAKWRAP_ARCH_FRAME_THUMB_H

#define LEAKWRAP_THUMB_RETURN    4 /* return address, from r7 */
#define LEAKWRAP_THUMB_PREVIOUS  0 /* the caller's r7 */
#define LEAKWRAP_THUMB_CALLER_SP 8 /* a lower bound of the caller's stack pointer */

#endif
