/* frame_arm_clang.h - the frame of ARM code that clang compiles with -fno-omit-frame-pointer: the frame record of
 * AAPCS32 2022Q3, section 6.2.1.4 "The Frame Pointer".  r11 points to the caller's r11, and the word above it is
 * the return address.  Registers may be stored above the record: the caller's stack pointer is not told. */
#ifndef LEAKWRAP_ARCH_FRAME_ARM_CLANG_H
#define LEAKWRAP_ARCH_FRAME_ARM_CLANG_H

#define LEAKWRAP_ARM_CLANG_RETURN    4 /* return address, from r11 */
#define LEAKWRAP_ARM_CLANG_PREVIOUS  0 /* the caller's r11 */
#define LEAKWRAP_ARM_CLANG_CALLER_SP 8 /* the caller's stack pointer, or less */

#endif
