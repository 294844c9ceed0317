/* assembly.S - functions as people write them by hand: without unwind tables, and all but one
 * without a frame pointer. Each function calls its argument and returns. assembly.c lists them. */
	.text

	.macro function name
	.p2align 4
	.globl	\name
	.type	\name, @function
\name:
	.endm

	.macro end name
	.size	\name, . - \name
	.endm

/* Calls, and does nothing else. */
function bare
	call	*%rdi
	ret
end bare

function pushes
	push	%rbx
	push	%r12
	push	%r13
	call	*%rdi
	pop	%r13
	pop	%r12
	pop	%rbx
	ret
end pushes

function subtracts
	sub	$0x48, %rsp
	call	*%rdi
	add	$0x48, %rsp
	ret
end subtracts

function pushes_and_subtracts
	push	%r15
	push	%r14
	push	%rbx
	sub	$0x1230, %rsp
	call	*%rdi
	add	$0x1230, %rsp
	pop	%rbx
	pop	%r14
	pop	%r15
	ret
end pushes_and_subtracts

/* Uses the frame pointer's register like any other register. */
function uses_rbp
	push	%rbp
	push	%rbx
	mov	$0x1234, %ebp
	sub	$8, %rsp
	call	*%rdi
	add	$8, %rsp
	pop	%rbx
	pop	%rbp
	ret
end uses_rbp

/* Uses the frame pointer's register, too, but lets it point into the stack. */
function points_rbp
	push	%rbp
	sub	$0x40, %rsp
	lea	0x20(%rsp), %rbp
	call	*%rdi
	add	$0x40, %rsp
	pop	%rbp
	ret
end points_rbp

function with_frame_pointer
	push	%rbp
	mov	%rsp, %rbp
	push	%rbx
	sub	$24, %rsp
	call	*%rdi
	add	$24, %rsp
	pop	%rbx
	pop	%rbp
	ret
end with_frame_pointer

/* Keeps words on the stack that look like return addresses. */
function keeps_returns
	lea	behind_a_call(%rip), %rax
	push	%rax
	push	%rax
	push	%rax
	call	*%rdi
	add	$24, %rsp
	ret
end keeps_returns

function decoy
	call	bare
behind_a_call:
	ret
end decoy

/* Ends with its call, which never returns. Behind it lies another function. */
function ends_with_call
	lea	behind_a_call(%rip), %rax
	push	%rax
	push	%rax
	push	%rax
	call	*%rdi
end ends_with_call

function comes_next
	ret
end comes_next

/* Has two entries and two returns. Its second branch has an argument on the stack. */
function branches
	push	%rbx
	test	%esi, %esi
	jz	1f
	sub	$16, %rsp
	push	%rsi
	call	*%rdi
	add	$24, %rsp
	pop	%rbx
	ret
1:	call	*%rdi
	pop	%rbx
	ret
end branches

/* Takes its frame down before its argument runs. */
function jumps
	jmp	*%rdi
end jumps

/* Moves to a stack of its own. */
function switches_stack
	push	%rbx
	mov	%rsp, %rbx
	lea	own_stack_end(%rip), %rsp
	call	*%rdi
	mov	%rbx, %rsp
	pop	%rbx
	ret
end switches_stack

/* Aligns the stack. */
function aligns
	push	%rbx
	mov	%rsp, %rbx
	and	$-64, %rsp
	sub	$64, %rsp
	call	*%rdi
	mov	%rbx, %rsp
	pop	%rbx
	ret
end aligns

/* Calls while rbp is no frame pointer, and takes its frame down. */
.macro	calls_without_frame_pointer
	push	%rbp
	push	%rbx
	lea	behind_a_call(%rip), %rbp
	push	%rbp
	call	*%rdi
	add	$8, %rsp
	pop	%rbx
	pop	%rbp
.endm

/* Returns by a jump through a pointer to a function that returns in its place. */
function jumps_at_end
	calls_without_frame_pointer
	jmp	*in_its_place(%rip)
end jumps_at_end

/* Returns by a jump to that function itself, which saves and restores the frame pointer again. */
function jumps_to_another
	calls_without_frame_pointer
	jmp	saves_again
end jumps_to_another

function saves_again
	push	%rbx
	push	%rbp
	xor	%ebp, %ebp
	pop	%rbp
	pop	%rbx
	ret
end saves_again

/* Has many branches near its end. All but one come back. */
function many_ways
	push	%rbx
	lea	behind_a_call(%rip), %rbx
	push	%rbx
	push	%rbx
	call	*%rdi
1:	.set	way, 0
	.rept	100
	test	%rbx, %rbx
	jz	2f + way
	.set	way, way + 1
	.endr
	jmp	3f
2:	.skip	100, 0x90
	jmp	1b
3:	add	$16, %rsp
	pop	%rbx
	ret
end many_ways

	.section .data.rel, "aw", @progbits
	.p2align 3
in_its_place:
	.quad	comes_next

	.bss
	.p2align 4
	.skip	65536
own_stack_end:
	.section .note.GNU-stack, "", @progbits
