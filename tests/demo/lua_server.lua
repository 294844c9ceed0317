-- The logic of lua_server: gives the reply and a session, which the server should forget, and does not.
local served = 0

function handle(name, greeting)
	served = served + 1
	local session = { name = name, number = served, history = {} }
	for i = 1, 16 do
		session.history[i] = name .. ":" .. i
	end
	return ("%s, %s, you are number %d"):format(greeting, name, served), session
end
