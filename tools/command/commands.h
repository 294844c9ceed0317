/* commands.h - the commands of the tool.  Each gets its own arguments, of which argv[0] is
 * "leakwrap NAME", and returns the exit status.
 */
#ifndef TOOLS_COMMAND_COMMANDS_H
#define TOOLS_COMMAND_COMMANDS_H

int command_report(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_why(int argc, char **argv);
int command_list(int argc, char **argv);
int command_audit(int argc, char **argv);
int command_cc(int argc, char **argv);
int command_flags(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_set(int argc, char **argv);
int command_mark(int argc, char **argv);
int command_torture(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_top(int argc, char **argv);
int command_push(int argc, char **argv);

#endif
