/* interior.h - pointers into a block by which programs usually hold it, although they have no
 * pointer to its first byte. */
#ifndef LEAKWRAP_INTERIOR_H
#define LEAKWRAP_INTERIOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/reach/is_readable.h"

/* The bytes before the elements of an array by new[] that have no alignment of their own. */
#define LEAKWRAP_COOKIE (LEAKWRAP_COOKIE_WORDS * sizeof(uintptr_t))

/* Returns whether the block of SIZE bytes at BLOCK may be an array by new[] without elements.  The
 * program has a pointer to its end then.  Its first LEAKWRAP_COOKIE bytes can be read.  A block
 * that is no array looks so if it is as small and holds zeros.  Pointers to the end of such a block
 * are few, and LeakSanitizer has the same rule. */
bool leakwrap_is_empty_array(uintptr_t block, size_t size);

/* Returns whether the block of SIZE bytes at BLOCK, which can be read, may be one that a program
 * holds by its end, but no array (end_rules.h).  The address of the end stands at PLACE; 0: in a
 * register.  Asks IS_READABLE before it reads more. */
bool leakwrap_is_held_by_end(uintptr_t block, size_t size, uintptr_t place,
                             leakwrap_is_readable *is_readable);

/* Returns whether POINTER, which leads into the block of SIZE bytes at BLOCK, or to the end of an
 * empty array, is a usual way to hold it.  POINTER stands at the address PLACE; 0: in a register.
 * The ways, by whose they are:
 *
 * C++ (valgrind knows these, too: memcheck, --leak-check-heuristics)
 *   - to the characters of a std::string of the old ABI of libstdc++, behind length, capacity and
 *     reference count
 *   - to the first element of an array by new[], behind the number of its elements, whatever
 *     their alignment is; also if there are none
 *   - to a part of an object with multiple inheritance: the part and the object begin with
 *     addresses of vtables
 *   - behind a 64-bit length of the rest of the block
 *
 * C++ (valgrind does not know this)
 *   - to a base class without virtual functions, behind the address of the object's vtable
 *   - to the first byte of an object with a vtable, with marks in the lowest bits
 *   - to the promise of a coroutine, behind the functions that resume and destroy it
 *   - to the end of a block of std::pmr::monotonic_buffer_resource, where its size stands
 *   - into the stack of a fiber or a coroutine of Boost, which holds its own size and end
 *
 * Xerces-C
 *   - to an object behind the address of its memory manager, which has a vtable
 *
 * programs that align blocks themselves, such as Eigen and OpenCV
 *   - to an aligned address, behind the block's own address, by which they free it
 *   - to what omp_alloc of GCC has returned, behind the block's address and size
 *
 * GLib
 *   - to an instance of GObject, behind its private data
 *   - to a fundamental type or a closure, behind what else is kept of it
 *   - to a block or string with a count of references, behind the count
 *   - to a part of a slab of small blocks
 *   - to what GTK keeps of the widgets with the same style, with marks in the lowest bits
 *
 * GNUstep
 *   - to an object of Objective-C, behind the number of its owners
 *
 * programs whose parts lead to the whole, such as SQLite, libevent, unbound and
 * glibc's table of loaded modules (elf/dl-find_object.c, struct dlfo_mappings_segment)
 *   - to a part that has the block's address among its first 16 words
 *
 * programs with pools that lie in the oldest of their own blocks, such as Dovecot
 *   - to the pool, from whose newest block the addresses of older blocks lead to the oldest
 *   - to an object in that block that has the pool's address among its first 64 words
 *
 * SQLite
 *   - behind the first four bytes of a block as large as a page, if the size of a page stands in
 *     front of the pointer
 *
 * libtalloc, the allocator of Samba and its relatives
 *   - behind its header, in which the size of the rest stands; also if there is no rest
 *
 * Mesa
 *   - behind the header of its allocator ralloc, whose links lead back; also if there is no rest
 *
 * mpv
 *   - behind the header of its allocator, in which the size of the rest and a mark stand; also if
 *     there is no rest
 *
 * VLC
 *   - to an object behind its private part, if its first child leads back to the object
 *
 * Qt
 *   - to the second byte of a vector of connections that is no longer in use
 *
 * Rust's standard library
 *   - to the control bytes of a hash table, behind its elements
 *
 * Abseil
 *   - to the control bytes of a hash table, behind the number of elements that may come
 *   - to a generator of random numbers, at the first multiple of 64
 *   - to the error of a status, with a mark in the lowest bit
 *
 * Protocol Buffers
 *   - to a std::string of the present ABI of libstdc++, with marks in the two lowest bits
 *   - to what an arena keeps of itself, behind the start of its oldest block
 *   - to the elements of a repeated field that is in no arena, from the field
 *
 * ICU
 *   - to the characters of a string, behind the number of its owners in 32 bits
 *
 * Redis and other programs with SDS strings
 *   - to the characters, behind their number, the room for them and the type of these numbers
 *
 * programs with arrays of stb_ds.h
 *   - to the elements, behind their number and the room for them; to the second one of a hash table
 *
 * programs with arrays whose first element they leave out, such as Emacs and SBCL
 *   - to the second element, if their number, without the first, stands beside the pointer
 *
 * Snowball's stemmers
 *   - to the letters of a word, behind the room for them and their number
 *
 * LMDB
 *   - to a list of IDs, behind the room for them
 *
 * SpiderMonkey
 *   - to the elements of an object, behind the room for them and how many have values
 *
 * NTL
 *   - to the elements of a vector, behind the room for them and their number
 *
 * Z3
 *   - behind the size of the whole block, and behind the header of a vector or list there
 *
 * libcoap
 *   - to the bytes of a message, behind room for a header, from the message
 *
 * libcap
 *   - behind a header with a mark and the size of the whole block
 *
 * nanomsg
 *   - to the bytes of a message, behind a header with a mark
 *
 * libyang
 *   - to an array of addresses, behind their number, if there is room for more
 *
 * Pango
 *   - to a language, behind two words and a mark
 *
 * Vim
 *   - to the key of an item in a hash table, behind the key's hash
 *
 * GlusterFS
 *   - behind a header with the size of the rest and a mark
 *   - to an object of its pools, behind a header with the same mark
 *
 * Squid
 *   - to an object that callbacks are given, behind its type and the block's address with inverted
 *     bits, and to a part of it that begins with the address of a vtable
 *
 * BIND without jemalloc, MariaDB and MySQL
 *   - behind the size of the rest of the block, with what aligns the rest
 *   - to an aligned address, behind the address of what is behind the size
 *
 * CPython
 *   - to an object, behind what the collector keeps of it, if a block is allocated for each
 *   - to the characters of a str or a bytes object, behind their number
 *   - to the values of an object's attributes, behind the order in which they came
 *
 * Lua
 *   - to a state, the main one or a coroutine's, behind the program's own bytes
 *   - to the global state, behind the main state
 *   - to the nodes of a table, behind the address of the free ones, and to the end of the values of
 *     its elements, from the table (5.5)
 *
 * PHP
 *   - to the elements of a table, behind the hashes, if the table's numbers are beside the pointer
 *   - to the arguments of a function, behind what it returns; also if there are none
 *
 * Perl
 *   - to an operation in a slab, which leads to the slab that was the first
 *
 * Tcl
 *   - behind two words, of which the second is the size of the rest
 *   - to a part of a slab that is in use, behind two such words
 *
 * Free Pascal
 *   - to the elements of a dynamic array, or the characters of a string, behind what is kept of
 *     them and a 64-bit length of the rest of the block
 *   - to the part of an object by which one of its interfaces is called
 *
 * tree-sitter
 *   - to the data of a node, behind its children
 *
 * programs whose objects hold the links of their lists and trees, such as libuv and
 * Boost.Intrusive, the events of libev, and PARI
 *   - to a node of a list or tree, which leads to another node that leads back
 *   - to the only node of a red-black tree of Linux that keeps its first node, too
 *   - to the only node of a list that keeps its first node, its last node and their number
 *   - to the only node of a list, in an object of nanomsg that begins with a state machine
 *   - to a node that was taken out of its list and leads to itself, or to at most three words in
 *     front of it, if the pointer is in no block
 *   - behind the links of a list, if these lead behind the links of its neighbours, too
 *   - to an active watcher of libev
 *
 * programs whose lists have one link in each node, such as those with Userspace RCU
 *   - to a node whose neighbour is as far from the start of a block of the same size
 *   - to a node of a hash table of Userspace RCU
 *
 * glibc
 *   - to the second byte of a node of tsearch(3), of which setenv(3) keeps a tree
 *   - to the vector of a thread's dynamic thread-local storage (dtv), behind its length.  glibc
 *     keeps the stacks of threads that have ended, which hold such pointers, for later threads.
 *
 * Asks IS_READABLE before it reads memory. */
bool leakwrap_is_usual_interior(uintptr_t block, size_t size, uintptr_t pointer, uintptr_t place,
                                leakwrap_is_readable *is_readable);

/* Returns whether the program gets from POINTER, which leads into the block of SIZE bytes at BLOCK,
 * to the block's start in one of these ways:
 *
 *   - by way of a few other parts of the block, each of which has the address of the next among its
 *     first 16 words, as gRPC does.  The last may have that of an aligned address in the block
 *   - by way of a pool in a block for itself, whose address the part has among its first words, as
 *     MuPDF does
 *   - directly, as the part is a structure at the first multiple of 64, and has the block's address
 *     among its first 96 words, as Hyperscan does
 *
 * Asks IS_READABLE before it reads memory. */
bool leakwrap_leads_back(uintptr_t block, size_t size, uintptr_t pointer,
                         leakwrap_is_readable *is_readable);

/* Returns the address of the block that has the elements of an array, or the table of its rows if
 * it HAS_ROWS.  Element or row 0 would be at ADDRESS, which stands at PLACE, but the lowest number
 * is another one (based_rules.h).  Returns 0 if there is no such block.  The memory from the
 * numbers to the byte can be read.  Asks IS_READABLE before it reads other memory. */
uintptr_t leakwrap_array_of(uintptr_t address, uintptr_t place, bool has_rows,
                            leakwrap_is_readable *is_readable);

#endif
