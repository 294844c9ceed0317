-- Binary trees: many small tables that live and die together, and one set that stays.
local function grow(depth)
	if depth == 0 then
		return {}
	end
	return { grow(depth - 1), grow(depth - 1) }
end

local function count(tree)
	return tree[1] and 1 + count(tree[1]) + count(tree[2]) or 1
end

local kept = grow(15)
local nodes = 0
for depth = 4, 15, 2 do
	for _ = 1, 1 << (15 - depth + 3) do
		nodes = nodes + count(grow(depth))
	end
end
print(nodes, count(kept))
