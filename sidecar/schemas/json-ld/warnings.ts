/** Something that a request does, or does not do, that whoever sent it may not expect. */
export interface JsonLdWarning {
  readonly code: string;
  readonly detail: string;
  /** Into the body; left out where it is not known. */
  readonly pointer?: string;
}

const MOST_WARNINGS = 100;

/** The warnings as they are answered: one for each place, the first hundred, and how many there are more. */
export function listed(warnings: readonly JsonLdWarning[]): readonly JsonLdWarning[] {
  const seen = new Set<string>();
  const distinct = warnings.filter(({ pointer }) => {
    if (pointer === undefined) return true;
    const isNew = !seen.has(pointer);
    seen.add(pointer);
    return isNew;
  });
  const more = distinct.length - MOST_WARNINGS;
  return more <= 0
    ? distinct
    : [
        ...distinct.slice(0, MOST_WARNINGS),
        { code: 'more-warnings', detail: `At least ${more} more are not listed.` },
      ];
}

/** A JSON value in a sentence. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return 'nothing';
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
