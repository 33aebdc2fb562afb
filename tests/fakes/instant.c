/* An engine that answers at once, to measure what a tournament costs without its engines.

   It plays one fixed game, move by move: 18 placements that close no mill, then two men that step
   to and fro for ever. The rules must have all draws off. It counts the moves in the last
   "position" line and looks at nothing else of it.

   With the arguments SEED RATE KINDS FILE it commits a fault in a share of its games, as erratic.py
   does; that file says what the arguments mean. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
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

static void say(const char *text) {
    if (write(1, text, strlen(text)) < 0)
        exit(0);
}

/* The game's fault, if it has one: its letter, the search that it comes in, and where FILE has its
   mark. */
static const char *kinds = "";
static uint64_t seed;
static double rate;
static int append = -1, marks = -1;
static char fault;
static long searches, fault_at;
static off_t place;

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void new_game(void) {
    fault = 0;
    searches = 0;
    if (append < 0 || write(append, ".", 1) != 1)
        return;
    place = lseek(append, 0, SEEK_CUR) - 1;
    uint64_t drawn = mix(seed ^ mix((uint64_t)place));
    if ((double)(drawn >> 11) * 0x1p-53 >= rate)
        return;
    fault = kinds[(drawn = mix(drawn)) % strlen(kinds)];
    if (strchr("lrm", fault) && place % 4)
        fault = 'c';
    fault_at = 1 + (long)(mix(drawn) % 8);
}

/* Whether the fault is this one; then it is marked as committed. */
static int commits(char letter) {
    if (fault != letter || pwrite(marks, &fault, 1, place) != 1)
        return 0;
    fault = 0;
    return 1;
}

static void hang(void) {
    for (;;)
        sleep(1000);
}

static void at_start(void) {
    if (commits('l'))
        sleep(4);
    if (commits('m'))
        _exit(1);
}

static void flood(long lines) {
    static char block[38 * 100 + 1];
    while (!*block || strlen(block) < 38 * 100)
        strcat(block, "info depth 1 score cp 1 nodes 1 pv d6\n");
    for (; lines; lines -= 100)
        say(block);
}

/* A fault in a search, where one is due; whether the answer has been given with it. */
static int at_search(const char *move) {
    if (++searches != fault_at)
        return 0;
    if (commits('c')) {
        say("info depth 1 score cp 1\n");
        _exit(1);
    }
    if (commits('s')) {
        raise(SIGSEGV);
        hang();
    }
    if (commits('h'))
        hang();
    if (commits('q')) {
        signal(SIGTERM, SIG_IGN);
        say("bestmove 0000\n");
        hang();
    }
    if (commits('i')) {
        say("bestmove a1xg7\n");
        return 1;
    }
    if (commits('g')) {
        say("bestmove \x01\xff%$ hello\n");
        return 1;
    }
    if (commits('e'))
        flood(-100);
    if (commits('d')) {
        close(1);
        hang();
    }
    if (commits('p')) {
        say("info depth 5 score cp 3 nodes 77 pv d6 f");
        _exit(0);
    }
    if (commits('k')) {
        if (fork() == 0) {
            setsid();
            hang();
        }
        _exit(3);
    }
    if (commits('x')) {
        char answer[64];
        snprintf(answer, sizeof answer, "bestmove %s\n", move);
        say(answer);
        _exit(1);
    }
    if (commits('o'))
        sleep(4);
    if (commits('f'))
        flood(20000);
    if (commits('t')) {
        char answer[64];
        snprintf(answer, sizeof answer, "bestmove %s\n", move);
        say(answer);
    }
    return 0;
}

int main(int count, char **words) {
    static char buffer[1 << 16];
    size_t used = 0, move = 0;
    ssize_t got;
    int first = 1;
    if (count == 5) {
        seed = strtoull(words[1], NULL, 10);
        rate = atof(words[2]);
        kinds = words[3];
        append = open(words[4], O_WRONLY | O_CREAT | O_APPEND, 0644);
        marks = open(words[4], O_WRONLY);
        new_game();
    }
    while ((got = read(0, buffer + used, sizeof buffer - used - 1)) > 0) {
        used += (size_t)got;
        buffer[used] = 0;
        char *line = buffer, *end;
        while ((end = strchr(line, '\n'))) {
            *end = 0;
            if (!strcmp(line, "uci")) {
                at_start();
                say("id name instant\nuciok\n");
            } else if (!strcmp(line, "isready")) {
                at_start();
                say(commits('r') ? "readyko\n" : "readyok\n");
            } else if (!strcmp(line, "ucinewgame")) {
                if (!first)
                    new_game();
                first = 0;
            } else if (!strncmp(line, "position", 8))
                move = moves_played(line);
            else if (!strncmp(line, "go", 2)) {
                char answer[128];
                const char *text = move < 18 ? placements[move] : steps[(move - 18) % 4];
                snprintf(answer, sizeof answer,
                         "info depth 8 seldepth 9 multipv 1 score cp 12 nodes 4321 nps 1000000 "
                         "time 1 pv %s\nbestmove %s\n", text, text);
                if (!at_search(text))
                    say(answer);
            } else if (!strcmp(line, "quit"))
                return 0;
            line = end + 1;
        }
        used -= (size_t)(line - buffer);
        memmove(buffer, line, used);
    }
    return 0;
}
