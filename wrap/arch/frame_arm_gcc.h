/* frame_arm_gcc.h - the frame of ARM code that gcc compiles with -fno-omit-frame-pointer.  No ABI
 * document defines it; AAPCS32 2022Q3, section 6.2.1.4 "The Frame Pointer", defines another layout.
 * Source: GCC's arm_compute_frame_layout in gcc/config/arm/arm.cc.  r11 points to the return
 * address, and the word below it is the caller's r11. */
#ifndef LEAKWRAP_ARCH_FRAME_ARM_GCC_H
#define LEAKWRAP_ARCH_FRAME_ARM_GCC_H

#define LEAKWRAP_ARM_GCC_RETURN    0    /* return address, from r11 */
#define LEAKWRAP_ARM_GCC_PREVIOUS  (-4) /* the caller's r11 */
#define LEAKWRAP_ARM_GCC_CALLER_SP 4    /* the caller's stack pointer */

#endif
