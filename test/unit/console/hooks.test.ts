import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { ApiError, type Purge } from '../../../console/api/client.js';
import { submitToken } from '../../../console/api/token.js';
import type { Expected, ModelWrite } from '../../../console/models/model-write.js';
import type { ModelKey } from '../../../console/models/models-api.js';
import { refusedReport, useDryRun } from '../../../console/models/use-dry-run.js';
import { usePurge } from '../../../console/purge/use-purge.js';
import { getDraft, useDraft } from '../../../console/shared/drafts.js';
import { useRoute } from '../../../console/shared/router.js';
import { useDebounced, useLoad } from '../../../console/shared/hooks.js';
import { useContextUrls, useModelNames } from '../../../console/workbench/names.js';
import { later, openTab, problem, settled } from './open-tab.js';

const TOKEN_WANTED = 'urn:ngsi-ld-gateway:problem:unauthorized';

describe('hooks of the console', () => {
  const page = openTab();

  describe('a debounced value', () => {
    it('a debounced value is updated after it has not changed for the whole time', async () => {
      const value = await page.run((one: string) => useDebounced(one), 'a');
      await value.give('b');
      await value.pass(449);
      await value.give('c');
      await value.pass(449);
      assert.equal(value.now, 'a');
      await value.pass(1);
      assert.equal(value.now, 'c');
    });
  });

  describe('suggestions', () => {
    const json = (items: readonly object[]) => () => Response.json(items);

    it('models are suggested from the second character on, by a search or by the given domain', async () => {
      page.answer = json([{ domain: 'City', name: 'Car' }]);
      const offers = await page.run(useModelNames, '');
      for (const nothing of ['', ' ', 'C', ' C ']) {
        await offers.give(nothing);
        assert.deepEqual(offers.now, []);
      }
      assert.equal(page.sent.length, 0);
      for (const [typed, line] of [
        ['Ci', 'models?q=Ci'],
        ['City/', 'domains/City/models?'],
        ['City/Ca', 'models?q=Ca'],
      ] as const) {
        await offers.give(typed);
        await offers.act(settled);
        assert.ok(page.lines.at(-1)?.startsWith(`GET api/v2/${line}`), page.lines.at(-1));
        assert.deepEqual(offers.now, ['City/Car']);
      }
    });

    it('the URLs of the first two hundred stored contexts are suggested', async () => {
      page.answer = json([{ url: 'https://c.test' }]);
      const offers = await page.run(() => useContextUrls(true), undefined);
      await offers.act(settled);
      assert.deepEqual(offers.now, ['https://c.test']);
      assert.deepEqual(page.lines, ['GET api/v2/contexts?limit=200&offset=0']);
    });
  });

  describe('loading', () => {
    interface Ask {
      readonly key: string;
      readonly load: (signal: AbortSignal) => Promise<string>;
      readonly everyMs?: number;
    }
    const hook = ({ key, load, everyMs }: Ask) => useLoad(key, load, everyMs);

    it('a late answer for an earlier key never replaces the value of the current key', async () => {
      const [first, second] = [later<string>(), later<string>()];
      const signals: AbortSignal[] = [];
      const loading = (answer: Promise<string>) => async (signal: AbortSignal) => {
        signals.push(signal);
        return answer;
      };
      const loaded = await page.run(hook, { key: 'a', load: loading(first.answer) });
      assert.deepEqual([loaded.now.value, loaded.now.isLoading], [undefined, true]);
      await loaded.give({ key: 'b', load: loading(second.answer) });
      assert.deepEqual(
        signals.map(({ aborted }) => aborted),
        [true, false],
      );
      await loaded.act(() => second.give('of b'));
      await loaded.act(() => first.give('of a'));
      assert.deepEqual([loaded.now.value, loaded.now.isLoading], ['of b', false]);
      const third = later<string>();
      await loaded.give({ key: 'c', load: loading(third.answer) });
      assert.deepEqual([loaded.now.value, loaded.now.isLoading], [undefined, true]);
      await loaded.leave();
      assert.equal(signals[2]?.aborted, true);
    });

    it('the last value stays while it is loaded again and beside an error, and the next value removes the error', async () => {
      const answers = [later<string>(), later<string>(), later<string>()];
      let asked = 0;
      const load = async () => answers[asked++]?.answer ?? assert.fail('too often');
      const loaded = await page.run(hook, { key: 'a', load });
      await loaded.act(() => answers[0]?.give('one'));
      await loaded.act(() => loaded.now.reload());
      assert.deepEqual([loaded.now.value, loaded.now.isLoading, asked], ['one', true, 2]);
      const error = new Error('x');
      await loaded.act(() => answers[1]?.fail(error));
      assert.deepEqual([loaded.now.value, loaded.now.error, loaded.now.isLoading], ['one', error, false]);
      await loaded.act(() => loaded.now.reload());
      await loaded.act(() => answers[2]?.give('two'));
      assert.deepEqual([loaded.now.value, loaded.now.error], ['two', undefined]);
    });

    it('a watched value is loaded again after a pause from each answer or error, while the tab is seen', async () => {
      let asked = 0;
      let answer = async () => 'x';
      const load = async () => {
        asked += 1;
        return answer();
      };
      const loaded = await page.run(hook, { key: 'a', load, everyMs: 5000 });
      await loaded.pass(4999);
      assert.equal(asked, 1);
      answer = async () => Promise.reject(new Error('away'));
      await loaded.pass(1);
      assert.equal(asked, 2);
      await loaded.pass(5000);
      assert.equal(asked, 3);
      page.show(false);
      await loaded.pass(50_000);
      assert.equal(asked, 3);
      await loaded.act(async () => {
        page.show(true);
        await settled();
      });
      assert.equal(asked, 4);
      await loaded.leave();
      mock.timers.tick(50_000);
      await settled();
      assert.equal(asked, 4);
    });

    it('watching can be switched on and off', async () => {
      let asked = 0;
      const load = async () => String((asked += 1));
      const loaded = await page.run(hook, { key: 'a', load });
      await loaded.give({ key: 'a', load, everyMs: 5000 });
      const before = asked;
      await loaded.pass(5000);
      assert.equal(asked, before + 1);
      await loaded.give({ key: 'a', load });
      const last = asked;
      await loaded.pass(60_000);
      assert.equal(asked, last);
    });

    it('a value that is not watched is loaded once', async () => {
      let asked = 0;
      const loaded = await page.run(hook, { key: 'a', load: async () => String((asked += 1)) });
      await loaded.pass(60_000);
      assert.deepEqual([asked, loaded.now.value], [1, '1']);
    });

    it('a user who gives no token is not asked for the token every few seconds', async () => {
      let asked = 0;
      const load = async () => {
        asked += 1;
        throw new ApiError({ title: '', status: 401, type: TOKEN_WANTED }, undefined);
      };
      const loaded = await page.run(hook, { key: 'a', load, everyMs: 5000 });
      await loaded.pass(60_000);
      assert.equal(asked, 1);
      await loaded.act(() => loaded.now.reload());
      assert.equal(asked, 2);
    });
  });

  describe('a kept form', () => {
    const begin = { name: 'a', note: '' };
    const open = async (name = 'form') =>
      page.run((first: typeof begin) => useDraft(name, () => first), begin);

    it('a kept form is restored after another page was visited, and only under its name', async () => {
      const form = await open();
      assert.ok(!form.now.isChanged);
      await form.act(() => {
        // Two changes before the form is shown again.
        form.now.change({ name: 'b' });
        form.now.change({ note: 'n' });
      });
      assert.deepEqual([form.now.form, form.now.isChanged], [{ name: 'b', note: 'n' }, true]);
      await form.leave();
      assert.deepEqual((await open()).now.form, { name: 'b', note: 'n' });
      assert.deepEqual((await open('other')).now.form, begin);
    });

    it('a form that is discarded, or typed back, is unchanged and no longer kept', async () => {
      const form = await open();
      await form.act(() => form.now.change({ name: 'b' }));
      await form.act(() => form.now.discard());
      assert.deepEqual([form.now.form, form.now.isChanged, getDraft('form')], [begin, false, undefined]);
      await form.act(() => form.now.change({ name: 'b' }));
      await form.act(() => form.now.change({ name: 'a' }));
      assert.deepEqual([form.now.isChanged, getDraft('form')], [false, undefined]);
    });

    it('a saved form keeps its values, and is no longer kept as a draft', async () => {
      const form = await open();
      await form.act(() => form.now.change({ name: 'b' }));
      await form.act(() => form.now.forget());
      assert.deepEqual([form.now.form.name, getDraft('form')], ['b', undefined]);
    });
  });

  describe('the address of a page', () => {
    it('the page follows its address, and counts navigations, until it is left', async () => {
      page.location.hash = '#/a/b?x=1';
      const route = await page.run(() => useRoute(), undefined);
      assert.deepEqual([route.now.path, route.now.params.get('x'), route.now.visit], [['a', 'b'], '1', 0]);
      const lead = async (hash: string) =>
        route.act(() => {
          page.location.hash = hash;
          page.window.dispatchEvent(new Event('hashchange'));
        });
      await lead('#/c');
      assert.deepEqual([route.now.path, route.now.visit], [['c'], 1]);
      await lead('#/c');
      assert.equal(route.now.visit, 2);
      await route.leave();
      await lead('#/d');
      assert.deepEqual(route.now.path, ['c']);
    });
  });

  describe('a purge on its page', () => {
    const record = (changed: Partial<Purge>) => ({ id: 'a', deleted: 0, ...changed }) as Purge;
    const stateOf = ({ now }: { readonly now: ReturnType<typeof usePurge> }) => now.record?.state;
    let send: (record: Partial<Purge>) => void;
    const open = async (id = 'a') => {
      page.answer = () =>
        new Response(
          new ReadableStream<Uint8Array>({
            start(controller) {
              send = (changed) => {
                const text = `data: ${JSON.stringify(record(changed))}\n\n`;
                controller.enqueue(new TextEncoder().encode(text));
              };
            },
          }),
        );
      const purge = await page.run(usePurge, id);
      await purge.act(settled);
      return purge;
    };

    it('each record is shown, with the rates of running purges, and leaving the page ends the stream', async () => {
      const purge = await open();
      assert.equal(stateOf(purge), undefined);
      for (const changed of [
        { state: 'queued', ratePerSecond: 1 },
        { state: 'running', ratePerSecond: 5 },
        { state: 'running' },
        { state: 'cancelling', ratePerSecond: 7 },
      ] as const)
        await purge.act(async () => {
          send(changed);
          await settled();
        });
      assert.equal(stateOf(purge), 'cancelling');
      assert.deepEqual(
        purge.now.rates.map(({ perSecond }) => perSecond),
        [5],
      );
      await purge.leave();
      assert.equal(page.sent[0]?.signal.aborted, true);
    });

    it('switching to another purge ends the stream of the first and requests that of the second', async () => {
      const purge = await open();
      await purge.give('b');
      await purge.act(settled);
      assert.deepEqual(page.lines, ['GET api/v2/purges/a/events', 'GET api/v2/purges/b/events']);
      assert.deepEqual(
        page.sent.map(({ signal }) => signal.aborted),
        [true, false],
      );
      assert.equal(purge.now.error, undefined);
    });

    it('a broken stream is reported until there is a record again', async () => {
      const purge = await open();
      page.answer = () => problem(503);
      await purge.leave();
      const other = await page.run(usePurge, 'b');
      await other.act(settled);
      assert.ok(other.now.isBroken);
      page.answer = () => new Response(`data: ${JSON.stringify(record({ state: 'succeeded' }))}\n\n`);
      await other.pass(500);
      assert.deepEqual([other.now.isBroken, stateOf(other)], [false, 'succeeded']);
      assert.equal(purge.now.isBroken, false);
    });

    it('an unreadable record is an error until it is requested again', async () => {
      page.answer = () => problem(404);
      const purge = await page.run(usePurge, 'a');
      await purge.act(settled);
      assert.ok(purge.now.error instanceof ApiError);
      page.answer = () => new Response(`data: ${JSON.stringify(record({ state: 'failed' }))}\n\n`);
      await purge.act(async () => {
        purge.now.retry();
        await settled();
      });
      assert.deepEqual([purge.now.error, stateOf(purge)], [undefined, 'failed']);
    });
  });

  describe('the dry run of a save', () => {
    interface Ask {
      readonly key?: ModelKey;
      readonly write: ModelWrite | undefined;
      readonly expected?: Expected;
    }
    const CAR = { domain: 'City', name: 'Car' };
    const hook = ({ key = CAR, write, expected = 'absent' }: Ask) => useDryRun(key, write, expected);
    const schema = (text: string) => ({ write: { schemaText: text } });
    const open = async (ask: Ask) => {
      const trial = await page.run(hook, ask);
      await trial.pass(0);
      return trial;
    };

    it('the first dry run starts at once, and each later one when typing has paused', async () => {
      page.answer = (_request, index) => Response.json({ version: index });
      const trial = await open(schema('1'));
      assert.deepEqual([trial.now.dryRun.found?.version, trial.now.dryRun.isCurrent], [0, true]);
      await trial.give(schema('2'));
      assert.equal(trial.now.dryRun.isCurrent, false);
      await trial.pass(449);
      await trial.give(schema('3'));
      await trial.pass(449);
      assert.equal(page.sent.length, 1);
      await trial.pass(1);
      assert.deepEqual([trial.now.dryRun.found?.version, trial.now.dryRun.isCurrent], [1, true]);
      assert.equal(page.sent[1]?.body, '{"schema":\n3\n}');
    });

    it('the result for another text, another state or another model does not count for this one', async () => {
      const trial = await open(schema('1'));
      for (const other of [
        schema('2'),
        { ...schema('1'), expected: { etag: '"1"' } },
        { ...schema('1'), key: { domain: 'City', name: 'Bus' } },
        { write: { schemaText: '1', settings: { status: 'draft' as const } } },
      ]) {
        await trial.give(other);
        assert.equal(trial.now.dryRun.isCurrent, false);
      }
      await trial.give(schema('1'));
      assert.equal(trial.now.dryRun.isCurrent, true);
    });

    it('a late answer to an earlier dry run changes nothing', async () => {
      const first = later<Response>();
      page.answer = async (_request, index) => (index === 0 ? first.answer : Response.json({ version: 2 }));
      const trial = await open(schema('1'));
      await trial.give(schema('2'));
      await trial.pass(450);
      assert.equal(page.sent[0]?.signal.aborted, true);
      assert.equal(trial.now.dryRun.error, undefined);
      await trial.act(() => first.give(Response.json({ version: 1 })));
      assert.equal(trial.now.dryRun.found?.version, 2);
    });

    it('no dry run is made if there is nothing to write, and earlier results are forgotten', async () => {
      const trial = await open({ write: undefined });
      await trial.pass(1000);
      assert.equal(page.sent.length, 0);
      assert.equal(trial.now.dryRun.isCurrent, false);
      await trial.give(schema('1'));
      await trial.pass(1000);
      assert.ok(trial.now.dryRun.found);
      await trial.give({ write: undefined });
      assert.deepEqual([trial.now.dryRun.found, trial.now.dryRun.isCurrent], [undefined, false]);
    });

    it('a failed dry run is repeated on request', async () => {
      page.answer = (_request, index) => (index === 0 ? problem(503) : Response.json({ version: 1 }));
      const trial = await open(schema('1'));
      assert.ok(trial.now.dryRun.error instanceof ApiError && trial.now.dryRun.isCurrent);
      await trial.act(() => trial.now.retry());
      await trial.pass(450);
      assert.deepEqual([trial.now.dryRun.error, trial.now.dryRun.found?.version], [undefined, 1]);
    });

    it('a user who gives no token is not asked for the token at every key', async () => {
      page.answer = () => problem(401, { type: TOKEN_WANTED });
      const trial = await open(schema('1'));
      await trial.act(async () => {
        submitToken(undefined);
        await settled();
      });
      await trial.give(schema('2'));
      await trial.pass(1000);
      assert.equal(page.sent.length, 1);
      assert.ok(trial.now.dryRun.isCurrent && trial.now.dryRun.error instanceof ApiError);
      await trial.act(() => trial.now.retry());
      await trial.pass(450);
      assert.equal(page.sent.length, 2);
      submitToken(undefined);
    });

    it('a refusal for lack of a token is forgotten once there is nothing to write', async () => {
      page.answer = (_request, index) =>
        index === 0 ? problem(401, { type: TOKEN_WANTED }) : Response.json({ version: 1 });
      const trial = await open(schema('1'));
      await trial.act(async () => {
        submitToken(undefined);
        await settled();
      });
      assert.ok(trial.now.dryRun.error instanceof ApiError);
      await trial.give({ write: undefined });
      assert.equal(trial.now.dryRun.error, undefined);
      await trial.pass(1000);
      await trial.give(schema('2'));
      await trial.pass(1000);
      assert.equal(trial.now.dryRun.found?.version, 1);
    });

    it('the report of a refused change is read from a conflict only', () => {
      const report = { overall: 'breaking', differences: [] };
      const of = (status: number, members: object) =>
        refusedReport(new ApiError({ title: '', status, ...members }, undefined));
      assert.equal(of(409, { report }), report);
      assert.equal(of(412, { report }), undefined);
      for (const other of [undefined, null, 'x', {}]) assert.equal(of(409, { report: other }), undefined);
      assert.equal(refusedReport(new Error('x')), undefined);
    });
  });
});
