#!/bin/sh
# The build folder has one name, however O= gives it.
#
# The compiler's lists of headers name the objects by that name. Under another name an object would
# not be compiled again when a header changes.
. tests/lib.sh

unset MAKEFLAGS MFLAGS MAKELEVEL
# shellcheck disable=SC2016 # for make, not for the shell
name_of() {
	make -s --eval='name:; @echo $(O)' O="$1" name
}

for given in build ./build build/ "$PWD/build" "$PWD/tests/../build/"; do
	equal "O=$given" "$(name_of "$given")" build
done
equal "a folder outside" "$(name_of /tmp/apart/)" /tmp/apart
