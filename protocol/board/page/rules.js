// Texts that explain the rule sets and their fields.

/** Title of each rule set, its source and how it differs from others. */
export const RULE_SETS = {
  mill: ["Mill", "From “The Game of Mill: Game Rules”, the only complete text: a side with "
    + "three men may fly, and with three men each a game is soon drawn."],
  morris: ["Morris", "From a text that describes three phases and strategy: like Mill, but with "
    + "three men each a game is not drawn early."],
  roman: ["Roman", "From “Roman Mill Game”: the same rules as Morris."],
  loc: ["Loc", "From Larry Loc's “Mill Rules” of 2012: nobody flies, and a man in a mill is never "
    + "removed."],
  multi: ["Multi", "From the text that begins “Mill is one of the oldest board games”: two mills "
    + "at once remove two men, a man in a mill is never removed, and once either side has three "
    + "men both may fly."],
};

/** Each field as a question with its answers; a field without answers is a number. */
const FIELDS = {
  Flying: ["Who may fly, that is, move to any empty point?", {
    never: "nobody", own: "a side with three men", both: "both, once either side has three men",
  }],
  LockedMills: ["May a man be removed when all men of its side are in mills?", {
    any: "yes, any of them", none: "no, none is removed",
  }],
  DoubleMill: ["How many men does a move remove that closes two mills?", {
    one: "one", each: "one for each mill",
  }],
  Blocked: ["What happens to a side that cannot move?", {
    loses: "it loses", draws: "the game is drawn",
  }],
  Repetition: ["How many occurrences of a position make a draw? (0: never)"],
  NoRemovalPlies: ["After how many moves, counting both sides, is a game without a removal drawn? "
    + "(0: never)"],
  ThreeThreePlies: ["After how many such moves with three men each is it drawn? (0: never)"],
};

/** Returns a field's question, or its name if there is no text for it. */
export function question(field) {
  return FIELDS[field] ? FIELDS[field][0] : field;
}

/** Returns the text of a field's choice. */
export function answer(field, choice) {
  return (FIELDS[field] && FIELDS[field][1] && FIELDS[field][1][choice]) || choice;
}

/** Returns the rules as sentences, one for each field. */
export function sentences(fields) {
  const limit = (count, text) => (Number(count) ? [text(count)] : []);
  return [
    {
      never: "Nobody may fly.",
      own: "Three men may fly: a side with no more than three moves to any empty point.",
      both: "Once either side has three men and all men are placed, both sides may fly.",
    }[fields.Flying],
    {
      any: "A man in a mill is removed only if all men of its side are in mills.",
      none: "A man in a mill is never removed.",
    }[fields.LockedMills],
    {
      one: "A move that closes two mills removes one man.",
      each: "A move that closes two mills removes two men.",
    }[fields.DoubleMill],
    "A side with two men has lost.",
    {
      loses: "A side that cannot move loses.",
      draws: "When a side cannot move, the game is drawn.",
    }[fields.Blocked],
    ...limit(fields.Repetition, (count) =>
      `A position that occurs ${count} times is a draw.`),
    ...limit(fields.NoRemovalPlies, (count) =>
      `After ${count} moves of both sides together without a removal, the game is drawn.`),
    ...limit(fields.ThreeThreePlies, (count) =>
      `When both sides have three men, ${count} moves without a removal make a draw.`),
  ];
}
