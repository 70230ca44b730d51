/** Returns the texts of a form that are not empty, trimmed. */
export function filledIn<Texts extends Readonly<Record<string, string>>>(texts: Texts) {
  const given = Object.entries(texts).map(([name, text]) => [name, text.trim()]);
  return Object.fromEntries(given.filter(([, text]) => text !== '')) as {
    readonly [Name in keyof Texts]?: Exclude<Texts[Name], ''>;
  };
}

/** Returns the number that was typed. Anything else is returned as typed, so that the gateway refuses it. */
export function typedNumber(typed: string): number {
  const value = Number(typed);
  return Number.isFinite(value) ? value : (typed as unknown as number);
}
