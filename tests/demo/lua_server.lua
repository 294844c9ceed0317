-- The logic of lua_server. It returns the reply, and a session that the server should forget, and
-- does not forget.
local served = 0

function handle(name, greeting)
	served = served + 1
	local session = { name = name, number = served, history = {} }
	for i = 1, 16 do
		session.history[i] = name .. ":" .. i
	end
	return ("%s, %s, you are number %d"):format(greeting, name, served), session
end
