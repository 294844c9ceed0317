/* symbolize.h - from return addresses to functions, files and lines: the stage behind the model.
 *
 * Modules are opened one at a time, each address of a module is looked up once, and what a look-up costs
 * does not grow with the number of look-ups: symbols, compilation units and the functions of a unit are
 * sorted when they are first needed.
 */
#ifndef TOOLS_SYMBOLIZE_H
#define TOOLS_SYMBOLIZE_H

#include "tools/model/model.h"
#include "tools/symbolize/search.h"

/* Fills in the frames of every location of REPORT, and says which modules had to stay raw. */
void symbolize(struct report *report, const struct search *search);

#endif
