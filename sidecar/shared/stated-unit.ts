/**
 * Matches the unit in a description, as Smart Data Models write it: `Units:'km/h'`. Without quotes, it must be one word
 * at the end of a sentence: `Unit: see unitCode` names no unit.
 */
const UNIT = /\bunits?\s*:\s*(?:'([^']*)'|"([^"]*)"|([^\s.,;'"]+)(?=\.?\s*$|\.\s))/i;

/** Returns the unit that a description names. */
export function statedUnit(description: string): string | undefined {
  const match = UNIT.exec(description);
  return match?.[1] ?? match?.[2] ?? match?.[3];
}

/** Returns a description without the unit it names. */
export function withoutUnit(description: string): string {
  return description.replace(UNIT, '').replace(/[\s.]*$/, '');
}
