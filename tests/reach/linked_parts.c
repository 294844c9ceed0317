/* linked_parts.c - holds objects as lists, trees, event loops and caches do: by nodes, watchers and
 * parts that lead to the object, in the middle of them.  Similar parts are none of these. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 50, LOST = 3, OTHERS = 12, NAME = 5 };

/* The bytes by which a block is larger that holds no node: in blocks of one size, words at the same
 * place may be nodes with one link. */
enum { MORE = 2 * sizeof(void *) };

struct link {
	struct link *volatile next, *volatile last;
};

struct member {
	uintptr_t name[NAME];
	struct link link;
};

/* The lowest bit of the parent's address is the colour. */
struct branch {
	uintptr_t volatile parent;
	struct branch *volatile right, *volatile left;
};

struct leaf {
	uintptr_t name[NAME];
	struct branch branch;
};

struct event {
	struct event *volatile next;
	uintptr_t volatile flags;
	void (*volatile call)(void *object);
	void *volatile object;
};

/* A watcher of libev. */
struct watcher {
	int active, pending, priority;
	void *data;
	void (*call)(void *loop, struct watcher *watcher, int events);
};

struct watching {
	uintptr_t name[NAME];
	struct watcher watcher;
};

struct connection {
	uintptr_t name[NAME];
	struct event event;
};

/* A part that leads to its object behind a lock and links, as an entry of unbound's caches does. */
struct entry {
	uintptr_t lock[7];
	struct entry *volatile next, *last_used, *used_next;
	uintptr_t hash;
	void *volatile key, *value;
};

struct answer {
	uintptr_t name[NAME];
	struct entry entry;
	void *volatile much_later[4];
};

/* A clone behind its links, as PARI keeps it: the links lead behind those of the other clones. */
struct clone {
	intptr_t height;
	intptr_t *volatile left, *right;
	size_t size, owners;
	intptr_t *volatile next, *volatile last;
	size_t number;
	intptr_t value[NAME];
};

/* A bucket of a hash table, and a node of it, as Boost.MultiIndex has them. */
struct bucket {
	struct bucket *volatile first_or_before; /* the node before, in a node */
};

struct node {
	struct bucket base;
	struct bucket *volatile next; /* a node or the next bucket */
};

struct hashed {
	uintptr_t name[NAME];
	struct node node;
};

static struct link list = {&list, &list};
static struct node table = {{&table.base}, &table.base};
static struct bucket buckets[KEPT];
static struct branch *volatile tree;
static struct { /* as struct rb_root_cached of Linux, between other words */
	uintptr_t before;
	struct branch *volatile root, *volatile leftmost;
} cached_trees[4];
static struct link end_of_list;
static struct { /* as struct slist_head of FRRouting, between other words */
	uintptr_t before;
	struct link *volatile first, *volatile last;
	size_t volatile count;
} counted_lists[6];
static struct event *volatile events;
static struct watcher *volatile watchers[KEPT];
static struct entry *volatile bucket;
static intptr_t *volatile clones;
static void *volatile others[OTHERS];

static void call(void *object)
{
	(void)object;
}

static struct member *make_member(void)
{
	struct member *const member = calloc(1, sizeof(*member));

	member->link.next = &list;
	member->link.last = list.last;
	list.last->next = &member->link;
	list.last = &member->link;
	return member;
}

/* Puts a leaf above the tree, whose root becomes its left child. */
static void make_leaf(void)
{
	struct leaf *const leaf = calloc(1, sizeof(*leaf));

	leaf->branch.left = tree;
	if (tree)
		tree->parent = (uintptr_t)&leaf->branch | 1;
	tree = &leaf->branch;
}

/* Makes the only node of a tree.  It is black. */
static struct branch *make_only_leaf(void)
{
	struct leaf *const leaf = calloc(1, sizeof(*leaf));

	leaf->branch.parent = 1;
	return &leaf->branch;
}

/* Holds a leaf by its tree, and others by no tree of one node: one is red, one has a child, the
 * address of one stands there once. */
static NOINLINE void make_only_leaves(void)
{
	for (unsigned i = 0; i < 3; i++)
		cached_trees[i].root = cached_trees[i].leftmost = make_only_leaf();
	cached_trees[1].root->parent = 0;
	cached_trees[2].root->left = (struct branch *)&list;
	cached_trees[3].root = make_only_leaf();
}

static struct link *make_only_member(struct link *next)
{
	struct member *const member = calloc(1, sizeof(*member) + MORE);

	member->link.next = next;
	return &member->link;
}

/* Holds two members by lists of one, and others by no such list: two members are counted, one leads
 * to a block, the address of one stands there once, one leads to no memory. */
static NOINLINE void make_only_members(void)
{
	for (unsigned i = 0; i < 6; i++) {
		counted_lists[i].first = make_only_member(i % 2 == 0 ? &end_of_list : NULL);
		counted_lists[i].last = counted_lists[i].first;
		counted_lists[i].count = i == 2 ? 2 : 1;
	}
	counted_lists[3].first->next = list.next;
	counted_lists[4].last = NULL;
	counted_lists[5].first->next = (struct link *)(uintptr_t)8;
}

static struct connection *make_connection(void)
{
	struct connection *const connection = calloc(1, sizeof(*connection));

	connection->event.call = call;
	connection->event.object = connection;
	return connection;
}

static struct answer *make_answer(void)
{
	struct answer *const answer = calloc(1, sizeof(*answer));

	answer->entry.key = answer;
	return answer;
}

static struct clone *clone_of(intptr_t *value)
{
	return (struct clone *)(value - offsetof(struct clone, value) / sizeof(*value));
}

static struct clone *make_clone(void)
{
	struct clone *const clone = calloc(1, sizeof(*clone));

	clone->next = clones;
	return clone;
}

static void link_clone(void)
{
	struct clone *const clone = make_clone();

	if (clones)
		clone_of(clones)->last = clone->value;
	clones = clone->value;
}

static struct node *node_of(struct bucket *bucket)
{
	return (struct node *)bucket;
}

/* Puts a node in front of those of BUCKET.  That is how Boost does it (hash_index_node.hpp, link).
 */
static void link_hashed(struct bucket *bucket)
{
	struct hashed *const hashed = calloc(1, sizeof(*hashed));
	struct node *const node = &hashed->node, *const first = node_of(bucket->first_or_before);

	if (first) {
		node->base.first_or_before = first->base.first_or_before;
		node->next = &first->base;
		first->base.first_or_before = &node->base;
	} else {
		node->base.first_or_before = table.base.first_or_before;
		node->next = node_of(table.base.first_or_before)->next;
		node_of(node->base.first_or_before)->next = bucket;
		table.base.first_or_before = &node->base;
	}
	bucket->first_or_before = &node->base;
}

/* Holds objects by nodes of no table: the bucket to which one leads, and that to which the node
 * before the other leads, lead elsewhere. */
static NOINLINE void make_false_hashed(void)
{
	struct hashed *hashed[2];

	for (unsigned i = 0; i < 2; i++) {
		hashed[i] = calloc(1, sizeof(*hashed[i]) + MORE);
		others[10 + i] = &hashed[i]->node;
	}
	hashed[0]->node.next = &buckets[1];
	hashed[1]->node.base.first_or_before = table.base.first_or_before;
}

static void watch(void *loop, struct watcher *watcher, int events)
{
	(void)loop, (void)watcher, (void)events;
}

static struct watcher *make_watcher(void)
{
	struct watching *const watching = calloc(1, sizeof(*watching));

	watching->watcher.active = 1;
	watching->watcher.priority = -2;
	watching->watcher.call = watch;
	return &watching->watcher;
}

/* Holds objects by parts that are no watchers: one is not active, one has another priority, one has
 * no function. */
static NOINLINE void make_false_watchers(void)
{
	struct watcher *watcher[3];

	for (unsigned i = 0; i < 3; i++)
		others[6 + i] = watcher[i] = make_watcher();
	watcher[0]->active = 0;
	watcher[1]->priority = 3;
	watcher[2]->call = NULL;
}

/* Holds objects by parts that are no nodes: one leads to a member that does not lead back, one to
 * itself, one to a member that leads back to another word of it. */
static NOINLINE void make_false_nodes(void)
{
	struct member *node[3], *last;

	for (unsigned i = 0; i < 3; i++) {
		node[i] = calloc(1, sizeof(*node[i]) + MORE);
		others[i] = &node[i]->link;
		node[i]->name[0] = 5;
	}
	node[0]->link.next = list.next;
	node[1]->link.next = &node[1]->link;
	node[2]->link.next = make_member()->link.next;
	last = node[2];
	list.last->next = (struct link *)&last->name[1];
}

/* Holds objects by parts that do not lead to them: one leads to another word of it, one to another
 * object, one from too far behind. */
static NOINLINE void make_false_entries(void)
{
	struct answer *answer[3];

	for (unsigned i = 0; i < 3; i++) {
		answer[i] = make_answer();
		others[3 + i] = &answer[i]->entry;
	}
	answer[0]->entry.key = &answer[0]->name[1];
	answer[1]->entry.key = &list;
	answer[2]->entry.key = NULL;
	answer[2]->much_later[3] = answer[2];
}

static NOINLINE void make_all(void)
{
	for (int i = 0; i < KEPT; i++) {
		struct connection *const connection = make_connection();
		struct answer *const answer = make_answer();

		connection->event.next = events;
		events = &connection->event;
		answer->entry.next = bucket;
		bucket = &answer->entry;
		make_member();
		make_leaf();
		watchers[i] = make_watcher();
		link_clone();
		link_hashed(&buckets[i % (KEPT - 10)]); /* some buckets get two nodes */
	}
	for (int i = 0; i < LOST; i++)
		make_connection()->name[0] = 1;
	others[9] = make_clone()->value; /* its links lead to a clone that does not lead back */
	make_false_entries();
	make_false_watchers();
	make_false_hashed();
	make_only_leaves();
	make_only_members();
}

int main(void)
{
	make_all();
	make_false_nodes();
	clear_stack();
	return raise(SIGUSR1);
}
