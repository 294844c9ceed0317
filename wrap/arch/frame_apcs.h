/* frame_apcs.h - the frame of ARM code that is compiled with -mapcs-frame.  Source: the ARM
 * Procedure Call Standard (ARM DUI 0041C, "ARM Software Development Toolkit Reference Guide",
 * section 9.3.3 "The stack backtrace data structure").  r11 points to the saved pc.  Below it lie
 * the return address, the caller's sp, and the caller's r11. */
#ifndef LEAKWRAP_ARCH_FRAME_APCS_H
#define LEAKWRAP_ARCH_FRAME_APCS_H

#define LEAKWRAP_APCS_RETURN    (-4)  /* return address, from r11 */
#define LEAKWRAP_APCS_CALLER_SP (-8)  /* where the caller's stack pointer is */
#define LEAKWRAP_APCS_PREVIOUS  (-12) /* the caller's r11 */

/* The saved pc is the address of the "stmfd sp!, {..., fp, ip, lr, pc}" that stored it, plus 8, or
 * plus 12 on some processors (Arm ARM, DDI 0100I, section A2.4.3). */
#define LEAKWRAP_APCS_STORE_MASK 0xfffff800u
#define LEAKWRAP_APCS_STORE      0xe92dd800u

#endif
