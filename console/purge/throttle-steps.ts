/** The limits that the slider has; behind the last one there is none. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/** The step that stands for no limit. */
export const LAST_STEP = STEPS.length;

/** The limit of a step, in deletes a second; null: none. */
export function limitOf(step: number): number | null {
  return STEPS[step] ?? null;
}

/** The step of a limit: the first that is not below it. */
export function stepOf(limit: number | null): number {
  if (limit === null) return LAST_STEP;
  const step = STEPS.findIndex((one) => one >= limit);
  return step === -1 ? LAST_STEP - 1 : step;
}
