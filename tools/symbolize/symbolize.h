/* symbolize.h - from return addresses to functions, files and lines.
 *
 * Each module is opened once, one at a time, and each address of it is looked up once.  A look-up
 * takes the same time however many there are: symbols, units, and the functions of a unit are
 * sorted when they are first needed.
 */
#ifndef TOOLS_SYMBOLIZE_SYMBOLIZE_H
#define TOOLS_SYMBOLIZE_SYMBOLIZE_H

#include "tools/model/model.h"
#include "tools/symbolize/search.h"

/* Sets the frames of each location of REPORT that has none, and says which of their modules stay
 * raw. */
void symbolize(struct report *report, const struct search *search);

#endif
