/* frame_arm_clang.h - the frame of ARM code that clang compiles with -fno-omit-frame-pointer.
 * Source: AAPCS32 2022Q3, section 6.2.1.4 "The Frame Pointer", the frame record.  r11 points to the
 * caller's r11, and the word above it is the return address.  Registers may be stored above the
 * record, so the caller's stack pointer cannot be computed. */
#ifndef LEAKWRAP_ARCH_FRAME_ARM_CLANG_H
#define LEAKWRAP_ARCH_FRAME_ARM_CLANG_H

#define LEAKWRAP_ARM_CLANG_RETURN    4 /* return address, from r11 */
#define LEAKWRAP_ARM_CLANG_PREVIOUS  0 /* the caller's r11 */
#define LEAKWRAP_ARM_CLANG_CALLER_SP 8 /* a lower bound of the caller's stack pointer */

#endif
