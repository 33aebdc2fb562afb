/* A minimal Nine Men's Morris engine to copy from: rule set `mill`, search of one ply.

   cc -O2 -o minimal_engine minimal_engine.c

   It passes `merels check`, and leaves draws to the client, which is the referee. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Points in the order of a position's first field: three rings, clockwise from the top centre. */
static const char *POINT[24] = {
    "d5", "e5", "e4", "e3", "d3", "c3", "c4", "c5", "d6", "f6", "f4", "f2",
    "d2", "b2", "b4", "b6", "d7", "g7", "g4", "g1", "d1", "a1", "a4", "a7"};
static int MILL[16][3];  /* the middle point of each mill is a neighbour of the other two */

typedef struct { char man[24]; int side, hand[2]; } Position;  /* man: 'O', '@' or '*' */
typedef struct { char text[16]; Position after; } Move;

static Position position;
static Move moves[24 * 24 * 10];
static const char MEN[] = "O@";

static void set_up_mills(void) {
    int n = 0;
    for (int ring = 0; ring < 24; ring += 8)
        for (int i = 1; i < 8; i += 2, n++)  /* corner, middle, corner */
            MILL[n][0] = ring + i, MILL[n][1] = ring + (i + 1) % 8, MILL[n][2] = ring + (i + 2) % 8;
    for (int i = 0; i < 8; i += 2, n++)      /* across the rings */
        MILL[n][0] = i, MILL[n][1] = 8 + i, MILL[n][2] = 16 + i;
}

static int in_mill(const Position *p, int point) {
    for (int n = 0; n < 16; n++) {
        const int *m = MILL[n];
        if ((m[0] == point || m[1] == point || m[2] == point) && p->man[m[0]] == p->man[point] &&
            p->man[m[1]] == p->man[point] && p->man[m[2]] == p->man[point]) return 1;
    }
    return 0;
}

static int neighbours(int a, int b) {
    for (int n = 0; n < 16; n++)
        if ((MILL[n][1] == a && (MILL[n][0] == b || MILL[n][2] == b)) ||
            (MILL[n][1] == b && (MILL[n][0] == a || MILL[n][2] == a))) return 1;
    return 0;
}

static int count(const Position *p, int side) {
    int n = 0;
    for (int i = 0; i < 24; i++) n += p->man[i] == MEN[side];
    return n;
}

/* Store every legal move in `moves`; return their number, 0 if the side to move has lost. */
static int generate(const Position *p) {
    int n = 0, side = p->side, men = count(p, side);
    for (int s = 0; s < 2; s++) if (count(p, s) + p->hand[s] < 3) return 0;
    for (int from = -1; from < 24; from++) {
        if (p->hand[side] ? from >= 0 : from < 0 || p->man[from] != MEN[side]) continue;
        for (int to = 0; to < 24; to++) {
            if (p->man[to] != '*' || (from >= 0 && men > 3 && !neighbours(from, to))) continue;
            Move move = {"", *p};
            Position *after = &move.after;
            if (from >= 0) after->man[from] = '*'; else after->hand[side]--;
            after->man[to] = MEN[side];
            after->side = !side;
            if (from >= 0) sprintf(move.text, "%s-%s", POINT[from], POINT[to]);
            else strcpy(move.text, POINT[to]);
            int removals = 0, closed = in_mill(after, to);
            for (int any = 0; closed && any < 2 && !removals; any++)  /* any: all are in mills */
                for (int x = 0; x < 24; x++)
                    if (after->man[x] == MEN[!side] && (any || !in_mill(after, x))) {
                        moves[n] = move;
                        moves[n].after.man[x] = '*';
                        strcat(strcat(moves[n++].text, "x"), POINT[x]);
                        removals++;
                    }
            if (!removals) moves[n++] = move;
        }
    }
    return n;
}

/* Set up the position that the words after `position` describe; return 0 if they are invalid. */
static int set_up(char *words) {
    Position p = {"************************", 0, {9, 9}};
    char *save = NULL, *word = strtok_r(words, " \t\r\n", &save);
    if (word && !strcmp(word, "fen")) {
        for (int field = 0; field < 6; field++) {
            if (!(word = strtok_r(NULL, " \t\r\n", &save))) return 0;
            if (field == 0) {
                if (strlen(word) != 26 || word[8] != '/' || word[17] != '/') return 0;
                for (int i = 0; i < 24; i++)
                    if (!strchr("O@*", p.man[i] = word[i + i / 8])) return 0;
            } else if (field == 1) {
                if (strcmp(word, "w") && strcmp(word, "b")) return 0;
                p.side = *word == 'b';
            } else {
                char *end;
                long number = strtol(word, &end, 10);
                if (*end || number < 0 || number > 1000000) return 0;
                if (field < 4) p.hand[field - 2] = (int)number;
            }
        }
        for (int s = 0; s < 2; s++)
            if (p.hand[s] > 9 - count(&p, s)) return 0;
    } else if (!word || strcmp(word, "startpos")) return 0;
    word = strtok_r(NULL, " \t\r\n", &save);  /* moves */
    while (word && (word = strtok_r(NULL, " \t\r\n", &save))) {
        int i, n = generate(&p);
        for (i = 0; i < n && strcmp(moves[i].text, word); i++) {}
        if (i == n) return 0;
        p = moves[i].after;
    }
    position = p;
    return 1;
}

/* Answer `go` with the move that wins most men; among such moves, with the move that leaves the
   opponent the fewest steps. */
static void search(const char *words, char *answer) {
    int n = generate(&position), best = -1, best_value = 0;
    int only = strstr(words, "searchmoves") != NULL;
    char padded[8192], name[24];
    snprintf(padded, sizeof padded, " %s ", words);
    for (int i = 0; i < n; i++) {
        const Position *p = &moves[i].after;
        int value = 100 * (count(p, position.side) - count(p, p->side));
        for (int a = 0; a < 24; a++)
            for (int b = 0; b < 24; b++)
                value -= p->man[a] == MEN[p->side] && p->man[b] == '*' && neighbours(a, b);
        strcat(strcat(strcpy(name, " "), moves[i].text), " ");
        if (only && !strstr(padded, name)) continue;
        if (best < 0 || value > best_value) best = i, best_value = value;
    }
    if (only && n && best < 0) { search("", answer); return; }  /* no searchmove is legal */
    if (best < 0) strcpy(answer, "info depth 0 score mate 0\nbestmove 0000\n");
    else sprintf(answer, "info depth 1 score cp %d nodes %d time 0 pv %s\nbestmove %s\n",
                 best_value, n, moves[best].text, moves[best].text);
}

int main(void) {
    char *line = NULL, answer[128] = "", held[128] = "", start[] = "startpos";
    size_t size = 0;
    set_up_mills();
    set_up(start);
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (getline(&line, &size, stdin) >= 0) {
        char *save = NULL, *name = strtok_r(line, " \t\r\n", &save), *words;
        if (!name) continue;
        words = save ? save : "";
        words[strcspn(words, "\r\n")] = 0;
        if (*held && (!strcmp(name, "stop") || !strcmp(name, "ponderhit") || !strcmp(name, "go"))) {
            fputs(held, stdout);
            *held = 0;
        }
        if (!strcmp(name, "uci")) puts("id name MinimalC\nid author merels\nuciok");
        else if (!strcmp(name, "isready")) puts("readyok");
        else if (!strcmp(name, "position")) {
            if (!set_up(words)) puts("info string error: invalid position; the last one stays");
        } else if (!strcmp(name, "go")) {
            search(words, answer);
            if (!*words || strstr(words, "infinite") || strstr(words, "ponder"))
                strcpy(held, answer);
            else fputs(answer, stdout);
        } else if (!strcmp(name, "quit")) break;
    }
    free(line);
    return 0;
}
