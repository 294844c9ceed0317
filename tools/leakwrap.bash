# shellcheck shell=bash
# leakwrap.bash - bash completion for the leakwrap tool.  It is installed as
# bash-completion/completions/leakwrap.

_leakwrap() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]-}
	local options files='--format= --output= --top= --all --color= --exe= --sysroot=
		--debug-dir= --map= --suppressions= --skip= --no-skip --config= --help'
	files+=' --no-system --origin='
	local commands='report diff why list audit cc flags dump set mark top serve push torture'
	COMPREPLY=()

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$commands help --help --version" -- "$word")
		return
	fi
	if [[ $command == help ]]; then
		((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
		return
	fi
	# Bash splits a word at its =.
	if [[ $word == '=' ]]; then
		word=
	elif [[ $previous == '=' ]]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $previous in
	-f | --format)
		mapfile -t COMPREPLY < <(compgen -W 'text json folded pprof html' -- "$word")
		;;
	--engine) mapfile -t COMPREPLY < <(compgen -W 'fork rerun' -- "$word") ;;
	--by)
		mapfile -t COMPREPLY < <(compgen -W 'function file module member origin' \
			-- "$word")
		;;
	--leak-kinds | --show-leak-kinds)
		mapfile -t COMPREPLY < <(compgen -W 'definite indirect possible reachable all' \
			-- "$word")
		;;
	--judge) mapfile -t COMPREPLY < <(compgen -W 'program all' -- "$word") ;;
	--origin)
		mapfile -t COMPREPLY < <(compgen -W 'program library system_library' -- "$word")
		;;
	--color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$word") ;;
	--protocol) mapfile -t COMPREPLY < <(compgen -W 'pyroscope parca' -- "$word") ;;
	--sysroot | --debug-dir | --queue | --state)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		;;
	--exe | --core | --map | --suppressions | --config | --output | -o)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		;;
	*)
		case $command in
		report)
			options="$files --by= --growth --last --core= --image= --merge
				--each --hosts= --show-leak-kinds= --fail-on-leaks --leak-kinds=
				--judge= --max-bytes= --max-blocks="
			;;
		diff) options="$files --show-leak-kinds=" ;;
		why)
			options='--core= --image= --content
				--top= --format= --output= --exe= --sysroot=
				--debug-dir= --help'
			;;
		list) options=--help ;;
		audit) options='--strict --help' ;;
		dump)
			options='--kinds --signal= --timeout= --help'
			;;
		mark)
			options='--signal= --timeout= --help'
			[[ $word == -* ]] ||
				mapfile -t COMPREPLY < <(compgen -W "$(ps -e -o pid=)" -- "$word")
			;;
		set)
			options='--signal= --timeout= --help'
			local what='record=0 record=1 sample= kinds=never kinds=exit kinds=always'
			((COMP_CWORD > 2)) || what=$(ps -e -o pid=)
			[[ $word == -* ]] || mapfile -t COMPREPLY < <(compgen -W "$what" -- "$word")
			;;
		top | serve | push)
			options='--interval= --kinds --help'
			[[ $command != push ]] ||
				options+=' --to= --protocol= --label= --tenant= --queue=
					--queue-bytes= --addresses --count='
			[[ $command != serve ]] || options+=' --listen= --timeout='
			local processes
			processes=$(ps -e -o pid=,comm=)
			[[ $word == -* ]] ||
				mapfile -t COMPREPLY < <(compgen -W "$processes" -- "$word")
			;;
		flags)
			options='--allocator= --options= --cxx --static-libstdcxx --static --lld
				--ld --program-only --output= -- --help'
			;;
		torture)
			options="$files --hits= --sticky --below= --size= --limit= --engine= --jobs=
				--state= --timeout= --leaks= --"
			[[ $word == -* ]] || mapfile -t COMPREPLY < <(compgen -c -- "$word")
			;;
		cc)
			options='--allocator= --options= --program-only -- --help'
			# The compiler, and then what is given to it.
			local what=-f
			((COMP_CWORD > 3)) || what=-c
			[[ $word == -* ]] || mapfile -t COMPREPLY < <(compgen $what -- "$word")
			;;
		*) return ;;
		esac
		if [[ $word == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
			[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
		elif [[ ! $command =~ ^(dump|set|mark|top|serve|push|torture|cc)$ ]]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			compopt -o filenames 2>/dev/null
		fi
		;;
	esac
}

complete -F _leakwrap leakwrap
