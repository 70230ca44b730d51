import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readSources } from '../../support/source-imports.js';
import { applyMutant, mutantsOf } from '../../mutation/mutants.js';

const changed = (text: string) => mutantsOf(text).map((mutant) => applyMutant(text, mutant));

it('a mutation run reverses comparisons and arithmetic', () => {
  assert.deepEqual(changed('f(a < b)').slice(1), ['f(a <= b)']);
  assert.deepEqual(changed('x = a >= b').slice(1), ['x = a > b']);
  assert.deepEqual(changed('x = a === b').slice(1), ['x = a !== b']);
  assert.deepEqual(changed('x = a + b').slice(1), ['x = a - b']);
  assert.ok(changed('x -= 1').includes('x += 1'));
});

it('a mutation run drops either side of a choice, condition, negation or default', () => {
  assert.deepEqual(changed('x = a || b').slice(1), ['x = (a)', 'x = (b)']);
  assert.deepEqual(changed('x = a ?? b').slice(1), ['x = (a)', 'x = (b)']);
  assert.deepEqual(changed('x = a ? b : c').slice(1), ['x = (b)', 'x = (c)']);
  assert.deepEqual(changed('x = !a').slice(1), ['x = (a)']);
  assert.ok(changed('if (a) b();').includes('if (false) b();'));
  assert.ok(changed('if (a) b();').includes('if (true) b();'));
  assert.ok(changed('function f(a = b) {}').includes('function f(a = undefined) {}'));
});

it('a mutation run drops statements, throws and early returns, but never the last return', () => {
  const text = 'function f() { if (a) return 1; throw b; c(); return x; }';
  const dropped = mutantsOf(text).filter(({ replacement }) => replacement === ';');
  assert.deepEqual(
    dropped.map(({ start, end }) => text.slice(start, end)),
    ['return 1;', 'throw b;', 'c();'],
  );
});

it('a mutation run keeps an empty return at the end of a function, because dropping it changes nothing', () => {
  const drops = (text: string) => changed(text).filter((after) => after.includes('catch { ; }')).length;
  assert.equal(drops('function f() { try { a(); } catch { return undefined; } }'), 0);
  assert.equal(drops('function f() { try { a(); } catch { return; } }'), 0);
  assert.equal(drops('function f() { try { a(); } catch { return 1; } }'), 1);
  assert.equal(drops('function f() { try { a(); } catch { return undefined; } b(); }'), 1);
});

it('a mutation run drops elements and members, and changes literals', () => {
  assert.ok(changed('x = [a, b, c]').includes('x = [a, c]'));
  assert.ok(changed('x = { a: 1, b, ...c }').includes('x = { a: 1, b }'));
  assert.deepEqual(changed('x = true').slice(1), ['x = false']);
  assert.deepEqual(changed('x = 5_000').slice(1), ['x = 5001', 'x = 5000000']);
  assert.deepEqual(changed('x = /^a$/i').slice(1), ['x = /a$/i', 'x = /^a/i']);
  assert.ok(changed("x = a === 'b'").includes("x = a === '?'"));
});

it('a mutation run replaces names by their counterparts', () => {
  assert.deepEqual(changed('x = a.minDelayMs').slice(1), ['x = a.maxDelayMs']);
  assert.deepEqual(changed('x = a.RETRY_MAX_DELAY_MS').slice(1), ['x = a.RETRY_MIN_DELAY_MS']);
  assert.ok(changed('x = a.some(f)').includes('x = a.every(f)'));
  assert.ok(changed("x = f('immediate')").includes("x = f('deferred')"));
  assert.deepEqual(changed('x = a.minute').slice(1), []);
});

it('a mutation run leaves types, imports and comments alone', () => {
  const text = "import a from './a.js';\n/** 1 < 2 */\ninterface B { c: 5 }\ntype D = true | 7;\nlet e: 3;";
  assert.deepEqual(mutantsOf(text), []);
});

it('a mutation run changes the elements of a page, but neither their styles nor their keys', () => {
  const text = 'const x = a && <A key={b} class={c} disabled={d} type="e" />;';
  const after = mutantsOf(text, true).map((mutant) => applyMutant(text, mutant));
  assert.deepEqual(after, [
    'const x = (a);',
    'const x = (<A key={b} class={c} disabled={d} type="e" />);',
    'const x = a && <A key={b} class={c}  type="e" />;',
  ]);
  assert.ok(readSources('console/parts').some(({ path }) => path === 'console/parts/listing.tsx'));
});

it('a mutation run skips changes without any effect', () => {
  for (const text of ["x = list[index] ?? '';", 'x = (list[at] ?? 0);']) {
    const drops = mutantsOf(text).filter(
      ({ kind }) => kind.includes('operand') || kind.includes('statement'),
    );
    assert.equal(mutantsOf(text).length, drops.length, text);
  }
  assert.ok(changed('x = counts[kind] ?? 0').includes('x = counts[kind] ?? 1'));
  assert.ok(changed('x = list[index] ?? f(0)').includes('x = list[index] ?? f(1)'));
  assert.deepEqual(changed("s.addEventListener('abort', f, { once: true });"), [';']);
  assert.ok(mutantsOf("s.addEventListener('drain', f, { once: true });").length > 1);
  assert.deepEqual(changed("x = { type: 'string', description: 'A name.' }"), [
    ';',
    "x = { description: 'A name.' }",
  ]);
  assert.ok(changed('x = { description: given }').includes('x = {  }'));
});
