/** What a client would like of an answer (RFC 7240); preferences that are not known are ignored, as the RFC wants it. */
export interface Preferences {
  /** `respond-async`: an answer at once, and the work later. */
  readonly respondAsync: boolean;
  /** `return=representation`: what was done, in the body. */
  readonly representation: boolean;
}

export function preferencesOf(header: string | readonly string[] | undefined): Preferences {
  const text = [header ?? []].flat().join(',');
  const has = (preference: RegExp) => text.split(',').some((one) => preference.test(one));
  return {
    respondAsync: has(/^\s*respond-async\s*(?:;|$)/i),
    representation: has(/^\s*return\s*=\s*"?representation"?\s*(?:;|$)/i),
  };
}
