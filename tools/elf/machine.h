/* machine.h - ELF's numbers of processors, also those that an older <elf.h> does not have. */
#ifndef TOOLS_ELF_MACHINE_H
#define TOOLS_ELF_MACHINE_H

#include <elf.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

#endif
