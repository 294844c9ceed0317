/* glib_objects.c - keeps instances of a class with private data, and loses three. */
#include <glib-object.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 100, LOST = 3 };

typedef struct {
	GObject parent;
	int number;
} Player;

typedef struct {
	GObjectClass parent;
} PlayerClass;

typedef struct {
	char *name;
	int scores[20];
} PlayerPrivate;

// cppcheck-suppress unknownMacro
G_DEFINE_TYPE_WITH_PRIVATE(Player, player, G_TYPE_OBJECT)

static void player_class_init(PlayerClass *class)
{
	(void)class;
}

static void player_init(Player *player)
{
	PlayerPrivate *const own = player_get_instance_private(player);

	own->name = g_strdup("a player's name");
}

static Player *volatile players[KEPT];

NOINLINE Player *make_player(void)
{
	return g_object_new(player_get_type(), NULL);
}

NOINLINE void lose_players(void)
{
	Player *volatile player;

	for (int i = 0; i < LOST; i++)
		player = g_object_new(player_get_type(), NULL);
	player = NULL;
	(void)player;
}

/* A pointer leads into a block, from there to a word, and from there to the last word of the
 * address space. An instance would have a type there, which is longer. */
static const uintptr_t last_word = (uintptr_t)0 - sizeof(uintptr_t);
static void *volatile *volatile inside;

static void make_false_instance(void)
{
	void **const block = calloc(10, sizeof(*block));

	block[2] = (void *)(uintptr_t)&last_word;
	inside = (void *volatile *)block + 2;
}

int main(void)
{
	make_false_instance();
	g_type_class_ref(player_get_type());
	for (int i = 0; i < KEPT; i++)
		players[i] = make_player();
	lose_players();
	clear_stack();
	return raise(SIGUSR1);
}
