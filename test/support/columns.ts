/** Returns one member of each row. */
export function column<Row, Name extends keyof Row>(rows: readonly Row[], name: Name): Row[Name][] {
  return rows.map((row) => row[name]);
}

/** Returns some members of each row, in the order of their names. */
export function columns<Row>(rows: readonly Row[], ...names: readonly (keyof Row)[]): Row[keyof Row][][] {
  return rows.map((row) => names.map((name) => row[name]));
}
