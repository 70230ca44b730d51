/**
 * How a description names its unit, as Smart Data Models write it: `Units:'km/h'`. Without quotes, it is one word at the end
 * of a sentence: `Unit: see unitCode` names none.
 */
const UNIT = /\bunits?\s*:\s*(?:'([^']*)'|"([^"]*)"|([^\s.,;'"]+)(?=\.?\s*$|\.\s))/i;

/** The unit that a description names. */
export function statedUnit(description: string): string | undefined {
  const match = UNIT.exec(description);
  return match?.[1] ?? match?.[2] ?? match?.[3];
}

/** A description without the unit that it names. */
export function withoutUnit(description: string): string {
  return description.replace(UNIT, '').replace(/[\s.]*$/, '');
}
