import assert from 'node:assert/strict';
import { it } from 'node:test';
import { askYesNo } from '../../../sidecar/cli/context.js';
import { CliError, EXIT } from '../../../sidecar/cli/exit-codes.js';
import {
  showProgress,
  purgeCommand,
  requestOf,
  type PurgeOptions,
} from '../../../sidecar/cli/purge-command.js';
import type { PurgeBackend, PurgePreview, PurgeRequest } from '../../../sidecar/cli/purge-backend.js';
import type { PurgeView } from '../../../sidecar/cli/purge-view.js';
import { FakeContext } from '../../support/cli-context.js';
import { words } from '../../support/words.js';

const VIEW: PurgeView = {
  id: 'p-1',
  state: 'running',
  target: 'entities',
  query: 'type=A',
  dryRun: false,
  matched: 7,
  deleted: 0,
  alreadyGone: 0,
  failed: 0,
  unknown: 0,
  requests: 1,
};
const DONE: PurgeView = { ...VIEW, state: 'succeeded', deleted: 7 };

/** A place that notes the requests it gets. */
function placeOf(
  preview: PurgePreview,
  views: readonly PurgeView[] = [DONE],
  place: Partial<PurgeBackend> = {},
) {
  const calls: string[] = [];
  const noted = (name: string, request: PurgeRequest) => void calls.push(`${name} ${request.query}`);
  const all: PurgeBackend = {
    preview: async (request) => {
      noted('preview', request);
      return preview;
    },
    async *run(request) {
      noted('run', request);
      yield* views;
    },
    detach: async (request) => {
      noted('detach', request);
      return { ...VIEW, state: 'queued' };
    },
    close: async () => {},
    ...place,
  };
  return { calls, place: all };
}

const SEVEN: PurgePreview = { matched: 7, sample: ['urn:a:1', 'urn:a:2'] };

/** Answers the question of a purge, or calls a function when the question comes. */
function answering(context: FakeContext, answer: () => void): FakeContext {
  context.onQuestion = (text) => {
    if (text.includes('[y/N]')) setImmediate(answer);
  };
  return context;
}

async function purgeOnTerminal(answer: string, options: PurgeOptions = {}) {
  const { calls, place } = placeOf(SEVEN);
  const context = new FakeContext({ isTerminal: true });
  answering(context, () => context.stdin.write(answer));
  const code = await purgeCommand(['type=A'], options, place, context);
  return { calls, context, code };
}

it('a terminal shows that counting takes more than a second, until it ends', async () => {
  const counting = async (isTerminal: boolean, end: () => PurgePreview) => {
    const context = new FakeContext({ isTerminal });
    const shown = new Promise<void>((resolve) => {
      context.onQuestion = () => resolve();
    });
    const preview = async () => {
      if (isTerminal) await shown;
      return end();
    };
    const { place } = placeOf(SEVEN, [DONE], { preview });
    await purgeCommand(['type=A'], { dryRun: true }, place, context).catch(() => undefined);
    return context.err;
  };
  const fail = () => {
    throw new CliError(EXIT.failed, 'No.');
  };
  for (const end of [() => SEVEN, fail]) {
    assert.equal(await counting(true, end), 'Counting …\r\u001b[K');
    assert.equal(await counting(false, end), '');
  }
});

it('a purge that asks continues only after y or yes', async () => {
  for (const answer of ['y\r', 'Y\r', 'yes\r', ' yes \r', 'YES\r']) {
    const { calls, code } = await purgeOnTerminal(answer);
    assert.deepEqual([calls, code], [['preview type=A', 'run type=A'], 0], answer);
  }
  for (const answer of ['\r', 'n\r', 'no\r', 'yess\r', 'ye\r', 'yellow\r', 'not yes\r', '\u0003', '\u0004']) {
    const { calls, code, context } = await purgeOnTerminal(answer);
    assert.deepEqual([calls, code], [['preview type=A'], EXIT.interrupted], JSON.stringify(answer));
    assert.match(context.err, /Nothing was deleted\.\n$/);
  }
});

it('the question of a purge counts as declined when its signal aborts, before or during the question', async () => {
  const context = new FakeContext({ isTerminal: true });
  assert.equal(await askYesNo(context, 'Sure? ', AbortSignal.abort()), false);
  const controller = new AbortController();
  const asked = askYesNo(context, 'Sure? [y/N] ', controller.signal);
  controller.abort();
  assert.equal(await asked, false);
});

it('the question of a purge states the number of matches and the tenant', async () => {
  const { place } = placeOf({ ...SEVEN, atLeast: true, unit: 'attributes' });
  const context = new FakeContext({ isTerminal: true });
  answering(context, () => context.stdin.write('n\r'));
  await purgeCommand(['type=A'], { tenant: 'city' }, place, context);
  assert.match(context.err, /^The query matches at least 7 attributes, of:\n {2}urn:a:1\n {2}urn:a:2\n/);
  assert.match(context.err, /Delete at least 7 attributes of tenant city\? \[y\/N\] /);
});

/** The request of a purge that was answered with yes, after a preview. */
async function confirmedRequest(preview: PurgePreview, query: string, options: PurgeOptions = {}) {
  let sent: PurgeRequest | undefined;
  const note = (request: PurgeRequest) => (sent = request);
  const { place } = placeOf(preview, [DONE], {
    async *run(request) {
      note(request);
      yield DONE;
    },
    detach: async (request) => {
      note(request);
      return VIEW;
    },
    ...(preview.plan === undefined ? {} : { plan: async () => preview }),
  });
  const context = new FakeContext({ isTerminal: true });
  answering(context, () => context.stdin.write('y\r'));
  assert.equal(await purgeCommand([query], options, place, context), EXIT.done);
  return sent;
}

it('a purge that was confirmed deletes at most as many as were shown, by a plan or by a maximum', async () => {
  const maximumOf = async (...given: Parameters<typeof confirmedRequest>) => {
    const { plan, options } = (await confirmedRequest(...given)) ?? assert.fail();
    return plan ?? options.maxAffected;
  };
  for (const how of [{}, { detach: true }, { temporal: true }, { maxAffected: 9 }])
    assert.equal(await maximumOf(SEVEN, 'type=A', how), 7, JSON.stringify(how));
  assert.equal(await maximumOf({ ...SEVEN, plan: 'p-0' }, 'type=A'), 'p-0');
  assert.equal(await maximumOf({ ...SEVEN, atLeast: true }, 'type=A'), undefined);
});

it('a purge that may reach a whole tenant gets no maximum but that of the user', async () => {
  for (const [given, expected] of [
    [undefined, undefined],
    [9, 7],
  ]) {
    const sent = await confirmedRequest(SEVEN, 'local=true', { maxAffected: given });
    assert.equal(sent?.options.maxAffected, expected);
  }
});

it('a purge that matches more than was shown is refused, and says why', async () => {
  const { place } = placeOf(SEVEN, [{ ...VIEW, state: 'refused' }]);
  const context = new FakeContext({ isTerminal: true });
  answering(context, () => context.stdin.write('y\r'));
  assert.equal(await purgeCommand(['type=A'], {}, place, context), EXIT.refused);
  assert.match(context.err, /No more than was shown is deleted\. Run the command again/);
});

it('a purge without a terminal sends nothing unless it needs no confirmation', async () => {
  const { calls, place } = placeOf(SEVEN);
  const context = new FakeContext();
  await assert.rejects(purgeCommand(['type=A'], {}, place, context), { exitCode: EXIT.usage });
  assert.deepEqual(calls, []);
  assert.equal(await purgeCommand(['type=A'], { yes: true }, place, context), 0);
  assert.equal(await purgeCommand(['type=A'], { dryRun: true }, place, context), 0);
  assert.deepEqual(calls, ['run type=A', 'preview type=A']);
});

it('a dry run deletes nothing, whatever other options are given', async () => {
  const { calls, place } = placeOf(SEVEN);
  for (const others of [{ yes: true }, { detach: true }, { yes: true, detach: true, json: true }])
    assert.equal(await purgeCommand(['type=A'], { dryRun: true, ...others }, place, new FakeContext()), 0);
  assert.deepEqual(new Set(calls), new Set(['preview type=A']));
});

it('a purge without matches succeeds without a question', async () => {
  const { calls, place } = placeOf({ matched: 0, sample: [], hints: ['Car is unknown.'] });
  const context = new FakeContext({ isTerminal: true });
  assert.equal(await purgeCommand(['type=A'], {}, place, context), 0);
  assert.deepEqual(calls, ['preview type=A']);
  assert.equal(context.err, 'Nothing matches.\n  Car is unknown.\n');
});

it('a dry run does not report zero matches if the broker counts matches but lists none', async () => {
  const { calls, place } = placeOf({ matched: 0, sample: [], atLeast: true });
  const context = new FakeContext({ isTerminal: true });
  await purgeCommand(['type=A'], { dryRun: true }, place, context);
  assert.match(context.out, /matches at least 0 entities/);
  assert.deepEqual(calls, ['preview type=A']);
});

it('a purge above --max-affected is refused without a question, and a purge of exactly as many asks', async () => {
  for (const [maxAffected, code] of [
    [6, EXIT.refused],
    [7, EXIT.done],
  ] as const) {
    const { calls, context, code: ended } = await purgeOnTerminal('y\r', { maxAffected });
    assert.equal(ended, code);
    assert.equal(calls.includes('run type=A'), code === EXIT.done);
    assert.equal(/more than the 6 that --max-affected allows/.test(context.err), code === EXIT.refused);
    const dry = new FakeContext();
    const options = { maxAffected, dryRun: true };
    assert.equal(await purgeCommand(['type=A'], options, placeOf(SEVEN).place, dry), code);
    assert.equal(/more than the 6 that --max-affected allows/.test(dry.err), code === EXIT.refused);
  }
});

it('a preview shows five ids, and counts the others', async () => {
  const sample = Array.from({ length: 6 }, (_, index) => `urn:a:${index}`);
  const shown = async (preview: PurgePreview) => {
    const context = new FakeContext();
    await purgeCommand(['type=A'], { dryRun: true }, placeOf(preview).place, context);
    return context.out.split('\n').slice(5, -1);
  };
  assert.deepEqual(await shown({ matched: 1200, sample }), ['  urn:a:4', '  … 1,195 more']);
  assert.deepEqual(await shown({ matched: 5, sample: sample.slice(1) }), ['  urn:a:5']);
  // For parts of entities, the number of entities is not known.
  assert.deepEqual(await shown({ matched: 1200, sample, unit: 'instances' }), ['  urn:a:4', '  … 1 more']);
});

it('Ctrl+C during the preview or the question deletes nothing, and the command exits with 130', async () => {
  const context = new FakeContext({ isTerminal: true });
  const { calls, place } = placeOf(SEVEN, [], {
    preview: async (_request, signal) => {
      context.interrupt();
      signal.throwIfAborted();
      return SEVEN;
    },
  });
  assert.equal(await purgeCommand(['type=A'], {}, place, context), EXIT.interrupted);
  const asked = new FakeContext({ isTerminal: true });
  answering(asked, () => asked.interrupt());
  assert.equal(await purgeCommand(['type=A'], {}, placeOf(SEVEN).place, asked), EXIT.interrupted);
  assert.deepEqual([calls, context.err], [[], 'Nothing was deleted.\n']);
  assert.deepEqual([context.listening, asked.listening], [0, 0]);
});

it('Ctrl+C stops a running purge and says so, and a second Ctrl+C exits at once', async () => {
  const context = new FakeContext();
  const { place } = placeOf(SEVEN, [], {
    async *run(_request, signal) {
      yield VIEW;
      context.interrupt();
      assert.ok(signal.aborted);
      assert.match(context.err, /Stopping: no new deletes/);
      assert.deepEqual(context.left, []);
      context.interrupt();
      assert.deepEqual(context.left, [EXIT.interrupted]);
      yield { ...VIEW, state: 'cancelled', deleted: 3 };
    },
  });
  assert.equal(await purgeCommand(['type=A'], { yes: true }, place, context), EXIT.interrupted);
  assert.match(context.out, /^Cancelled: 3 entities had been deleted/);
  assert.equal(context.listening, 0);
});

it('Ctrl+C removes the bar before the next message, and shows the cursor again', async () => {
  const context = new FakeContext({ isTerminal: true });
  const { place } = placeOf(SEVEN, [], {
    async *run() {
      yield VIEW;
      context.interrupt();
      yield { ...VIEW, state: 'cancelling', deleted: 3 };
      yield { ...VIEW, state: 'cancelled', deleted: 3 };
    },
  });
  assert.equal(await purgeCommand(['type=A'], { yes: true }, place, context), EXIT.interrupted);
  assert.match(context.err, /\u001b\[\?25h[^]*\u001b\[2KStopping: [^\n]*immediately\.\n$/);
});

it('an error after Ctrl+C is shown if a purge may have started', async () => {
  const context = new FakeContext();
  const { place } = placeOf(SEVEN, [], {
    async *run() {
      yield VIEW;
      context.interrupt();
      throw new CliError(EXIT.failed, 'The gateway is away.');
    },
    detach: async () => {
      context.interrupt();
      throw new CliError(EXIT.failed, 'It may have been started all the same.');
    },
  });
  await assert.rejects(purgeCommand(['type=A'], { yes: true }, place, context), /gateway is away/);
  const detached = { yes: true, detach: true };
  await assert.rejects(purgeCommand(['type=A'], detached, place, context), /started all the same/);
  assert.doesNotMatch(context.err, /Nothing was deleted/);
  assert.equal(context.listening, 0);
});

/** Ctrl+C is not pressed. */
const ON = { signal: new AbortController().signal };

async function* viewsOf(context: { nowMs: number }, steps: readonly (readonly [number, PurgeView])[]) {
  for (const [atMs, view] of steps) {
    context.nowMs = atMs;
    yield view;
  }
}

it('a purge followed by a program reports at most four times a second, and its end once', async () => {
  const time = { nowMs: 0 };
  const clock = { now: () => time.nowMs, monotonicMs: () => time.nowMs, sleep: async () => {} };
  const context = new FakeContext({ clock });
  const at = (deleted: number) => ({ ...VIEW, deleted });
  const steps = [0, 249, 250, 499, 500].map((ms, index) => [ms, at(index)] as const);
  const code = await showProgress(viewsOf(time, [...steps, [501, DONE]]), { json: true }, context, ON);
  const counts = context.out
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as PurgeView).deleted);
  assert.deepEqual([counts, code], [[0, 2, 4, 7], 0]);
});

it('a purge whose end is not reported exits with 1, or with 130 after Ctrl+C', async () => {
  const followed = (views: readonly PurgeView[], wasInterrupted: boolean) => {
    const steps = views.map((view) => [0, view] as const);
    return showProgress(
      viewsOf({ nowMs: 0 }, steps),
      {},
      new FakeContext(),
      wasInterrupted ? { signal: AbortSignal.abort() } : ON,
    );
  };
  for (const views of [[], [VIEW]]) {
    await assert.rejects(followed(views, false), { exitCode: EXIT.failed });
    assert.equal(await followed(views, true), EXIT.interrupted);
  }
});

it('the summary of a purge has the duration from its record, or else that of the command', async () => {
  const summaries: string[] = [];
  for (const times of [
    { startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:07Z' },
    { startedAt: '2026-01-01T00:00:07Z', endedAt: '2026-01-01T00:00:00Z' },
    {},
  ]) {
    const time = { nowMs: 1000 };
    const context = new FakeContext({
      clock: { now: () => time.nowMs, monotonicMs: () => time.nowMs, sleep: async () => {} },
    });
    await showProgress(
      viewsOf(time, [
        [1000, VIEW],
        [3000, { ...DONE, ...times }],
      ]),
      {},
      context,
      ON,
    );
    summaries.push(context.out);
  }
  assert.deepEqual(summaries, [
    'Deleted 7 entities in 7.0 s (1.0/s).\n',
    'Deleted 7 entities in 2.0 s (3.5/s).\n',
    'Deleted 7 entities in 2.0 s (3.5/s).\n',
  ]);
});

const NOW = Date.parse('2026-01-31T00:00:00Z');
const request = (options: PurgeOptions, words: readonly string[] = ['type=A']) =>
  requestOf(words, options, NOW);

it('--older-than compares modifiedAt, or observedAt for histories, unless --by names another', () => {
  const query = (options: PurgeOptions) => decodeURIComponent(request({ olderThan: '1d', ...options }).query);
  assert.equal(query({}), 'type=A&q=modifiedAt<2026-01-30T00:00:00Z');
  assert.equal(query({ by: 'createdAt' }), 'type=A&q=createdAt<2026-01-30T00:00:00Z');
  const before = 'timerel=before&timeAt=2026-01-30T00:00:00Z';
  assert.match(query({ temporal: true }), new RegExp(`^type=A&${before}`));
  assert.match(query({ temporal: true, by: 'modifiedAt' }), /timeproperty=modifiedAt/);
  assert.throws(() => request({ by: 'createdAt' }), { exitCode: EXIT.usage });
});

it('a purge takes tenant, link, bound and rate from its options, and the target from --temporal', () => {
  const link = 'https://models.example/context.jsonld';
  assert.deepEqual(request({ tenant: 'city', link, maxAffected: 5, rate: 9 }), {
    target: 'entities',
    query: 'type=A',
    tenant: 'city',
    link,
    options: { maxAffected: 5, maxPerSecond: 9 },
  });
  assert.equal(request({ temporal: true }).target, 'temporal');
});

it('a tenant with invalid characters and a link that is not a web URL are refused', () => {
  for (const tenant of ['', ' ', 'a b', 'straße', 'a\n'])
    assert.throws(() => request({ tenant }), { exitCode: EXIT.usage }, JSON.stringify(tenant));
  for (const link of [
    ...words(`
      file:///etc/passwd http:// https://a.example/<x> a.jsonld
    `),
    '',
    'https://a b',
  ])
    assert.throws(() => request({ link }), { exitCode: EXIT.usage }, link);
});

it('a query that a purge cannot have is refused before any request is sent', () => {
  for (const [words, options] of [
    [['id=urn:a:1'], {}],
    [['type=A', 'limit=3'], {}],
    [['type=A', 'drop=a', 'keep=b'], {}],
    [['timerel=before', 'timeAt=2026-01-01T00:00:00Z'], {}],
    [['type=A', 'timerel=never', 'timeAt=2026-01-01T00:00:00Z'], { temporal: true }],
  ] as const)
    assert.throws(() => request(options, words), { exitCode: EXIT.usage }, words.join('&'));
});
