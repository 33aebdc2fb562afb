/* An engine that answers at once, to measure a tournament's cost without that of its engines.

   It plays one fixed game, move by move: 18 placements that close no mill, then two men that step
   to and fro forever. The rules must have all draws off. The engine counts the moves in the last
   "position" line and ignores the rest of the line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *placements[18] = {
    "d5", "e5", "e4", "e3", "d3", "c3", "c4", "c5", "f6",
    "d6", "f2", "f4", "b2", "d2", "b6", "b4", "d7", "a7",
};
static const char *steps[4] = {"d7-g7", "a7-a4", "g7-d7", "a4-a7"};

static size_t moves_played(const char *line) {
    const char *moves = strstr(line, " moves ");
    size_t count = 0;
    for (const char *c = moves ? moves + 6 : ""; *c; c++)
        count += *c == ' ';
    return count;
}

static void send_text(const char *text) {
    if (write(1, text, strlen(text)) < 0)
        exit(0);
}

int main(void) {
    static char buffer[1 << 16];
    size_t used = 0, move = 0;
    ssize_t got;
    while ((got = read(0, buffer + used, sizeof buffer - used - 1)) > 0) {
        used += (size_t)got;
        buffer[used] = 0;
        char *line = buffer, *end;
        while ((end = strchr(line, '\n'))) {
            *end = 0;
            if (!strcmp(line, "uci"))
                send_text("id name instant\nuciok\n");
            else if (!strcmp(line, "isready"))
                send_text("readyok\n");
            else if (!strncmp(line, "position", 8))
                move = moves_played(line);
            else if (!strncmp(line, "go", 2)) {
                char answer[128];
                const char *text = move < 18 ? placements[move] : steps[(move - 18) % 4];
                snprintf(answer, sizeof answer,
                         "info depth 8 seldepth 9 multipv 1 score cp 12 nodes 4321 nps 1000000 "
                         "time 1 pv %s\nbestmove %s\n", text, text);
                send_text(answer);
            } else if (!strcmp(line, "quit"))
                return 0;
            line = end + 1;
        }
        used -= (size_t)(line - buffer);
        memmove(buffer, line, used);
    }
    return 0;
}
