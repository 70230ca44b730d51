import { parseArgs } from 'node:util';

/** `quick` shows within seconds that a bench works; `large` takes minutes longer than `default`. */
type Size = 'quick' | 'default' | 'large';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
    svg: { type: 'string' },
  },
});
const size: Size = values.quick ? 'quick' : values.large ? 'large' : 'default';

/** The options from the command line. */
export const command = {
  size,
  names: positionals,
  rounds: Number(values.rounds ?? sized({ quick: 1, default: 3 })),
  only: values.only,
  json: values.json,
  svg: values.svg,
};

/** Returns the value for the size of this run. If there is none for `large`, that of `default` is used. */
export function sized<Value>(values: {
  readonly quick: Value;
  readonly default: Value;
  readonly large?: Value;
}): Value {
  return values[size] ?? values.default;
}
