import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { h } from 'preact';
import { api, type Purge, type RetentionPolicy } from '../../../console/api/client.js';
import { askForToken, token } from '../../../console/api/token.js';
import { ReferenceModels } from '../../../console/models/reference-models.js';
import { ConfirmDialog } from '../../../console/parts/dialog.js';
import { TokenDialog } from '../../../console/parts/token-dialog.js';
import { RateChart } from '../../../console/purge/rate-chart.js';
import { RecordDetails } from '../../../console/purge/record-details.js';
import { Throttle, limitOf, type Rate } from '../../../console/purge/throttle.js';
import { PolicyPage } from '../../../console/retention/policy-page.js';
import { text } from '../../../console/strings.js';
import { nameOf, openTab, problem, type Shown } from './open-tab.js';

describe('controls', () => {
  const page = openTab();

  describe('the limit of a running purge', () => {
    const t = text.run;
    const slide = async (one: Shown, step: number) => one.type(t.throttle, String(step));

    it('a rate limit is sent once the slider has rested, and not after its page was left', async () => {
      const sent: (number | null)[] = [];
      const change = async ({ maxPerSecond }: Rate) => {
        sent.push(maxPerSecond);
        return { maxPerSecond: 5 };
      };
      const one = await page.open(h(Throttle, { job: { maxPerSecond: null }, change }));
      assert.ok(one.text.includes(t.noLimit));
      for (const step of [5, 4, 3]) {
        await slide(one, step);
        await one.pass(249);
      }
      assert.deepEqual(sent, []);
      await one.pass(1);
      assert.deepEqual(sent, [limitOf(3)]);
      assert.ok(one.text.includes(t.throttled('5/s')));
      await slide(one, 2);
      await one.leave();
      mock.timers.tick(1000);
      assert.equal(sent.length, 1);
    });

    it('a slider that was moved again stays in place when an earlier answer arrives', async () => {
      const answers = page.hold();
      const change = (body: Rate) => api.json('patch', '/scans/{scan}', { path: { scan: 's 1' }, body });
      const one = await page.open(h(Throttle, { job: { maxPerSecond: null }, change }));
      await slide(one, 3);
      await one.pass(250);
      await slide(one, 1);
      assert.deepEqual(page.lines, ['PATCH api/v2/scans/s%201']);
      await one.act(() => answers[0]?.(Response.json({ maxPerSecond: 10 })));
      assert.equal(one.field(t.throttle).value, '1');
      await one.pass(250);
      await one.act(() => answers[1]?.(problem(409, { title: 'It is over' })));
      assert.ok(one.text.includes('It is over'));
    });
  });

  describe('the list of deleted ids', () => {
    const t = text.run;
    const recordOf = (more: object) =>
      ({
        id: 'p/1',
        query: 'type=T&record=ids',
        state: 'succeeded',
        policy: {},
        target: 'entities',
        createdAt: '2026-01-01T00:00:00Z',
        requests: 1,
        retries: 0,
        concurrency: 1,
        ...more,
      }) as unknown as Purge;

    it('a list of deleted ids is removed after a confirmation, and only if the purge has ended', async () => {
      page.answer = () => new Response(null, { status: 204 });
      for (const state of ['queued', 'running', 'cancelling'])
        assert.deepEqual(
          (await page.open(h(RecordDetails, { record: recordOf({ state }) }))).buttons,
          [t.idsLoad],
          state,
        );
      const one = await page.open(h(RecordDetails, { record: recordOf({}) }));
      await one.press(t.idsRemove);
      assert.deepEqual(page.lines, []);
      await one.press(t.idsRemoveGo);
      assert.deepEqual(page.lines, ['DELETE api/v2/purges/p%2F1/ids']);
      assert.deepEqual([one.buttons, one.text.includes(t.idsRemoved)], [[], true]);
    });

    it('a purge without a list of ids offers none', async () => {
      assert.deepEqual(
        (await page.open(h(RecordDetails, { record: recordOf({ query: 'type=T' }) }))).buttons,
        [],
      );
    });
  });

  describe('the chart of a rate', () => {
    it('the chart of a rate reaches to the next round number, and from the first sample to the last', async () => {
      for (const [most, scale] of [
        [0.4, '0.5/s'],
        [1, '1/s'],
        [1.1, '2/s'],
        [21, '50/s'],
        [51, '100/s'],
        [0, '1/s'],
      ] as const) {
        const rates = [
          { at: 1000, perSecond: 0 },
          { at: 2000, perSecond: most },
        ];
        const chart = await page.open(h(RateChart, { rates }));
        assert.equal(chart.all('span').map(nameOf)[0], scale, `${most}`);
      }
      const rates = [
        { at: 2000, perSecond: 5 },
        { at: 3000, perSecond: 10 },
      ];
      const chart = await page.open(h(RateChart, { rates }));
      const [line] = chart.all('polyline');
      assert.equal(line?.getAttribute('points'), '0.0,45.0 600.0,0.0');
    });

    it('a rate with a single point is not drawn', async () => {
      const chart = await page.open(h(RateChart, { rates: [{ at: 2000, perSecond: 5 }] }));
      assert.ok(chart.text.includes(text.run.rateEmpty));
    });
  });

  describe('a confirmation dialog', () => {
    it('a confirmed action runs once at a time, and again after it failed', async () => {
      let [done, overtaken] = [0, 0];
      let fail: (error: unknown) => void = () => undefined;
      const question = (isReady: boolean) =>
        h(ConfirmDialog, {
          title: 'T',
          message: 'W',
          confirm: 'Go',
          isReady,
          onClose: () => undefined,
          onConfirm: () => {
            done += 1;
            return new Promise((_resolve, reject) => (fail = reject));
          },
          onConflict: () => (overtaken += 1),
        });
      const one = await page.open(question(false));
      await one.submit();
      assert.deepEqual([done, one.buttons[0]], [0, '(Go)']);
      await one.give(question(true));
      await one.submit();
      await one.submit();
      assert.deepEqual([done, one.buttons[0]], [1, `(${text.state.working})`]);
      await one.act(() => fail(new Error('no luck')));
      assert.ok(one.text.includes('no luck'));
      await one.press('Go');
      assert.deepEqual([done, overtaken, one.text.includes('no luck')], [2, 0, false]);
    });
  });

  describe('the question for the token', () => {
    const t = text.token;

    it('the token is trimmed, and refused if a header cannot carry it', async () => {
      const one = await page.open(h(TokenDialog, { signIn: undefined }));
      assert.equal(one.text, '');
      let given: boolean | undefined;
      await one.act(() => {
        void askForToken().then((has) => (given = has));
      });
      for (const wrong of ['', '  ', 'gehЖeim']) {
        await one.type(t.label, wrong);
        await one.submit();
        assert.deepEqual([given, token()], [undefined, undefined], wrong);
      }
      await one.type(t.label, ' s3cret ');
      await one.submit();
      assert.deepEqual([given, token(), one.text], [true, 's3cret', '']);
      await one.act(() => {
        void askForToken().then((has) => (given = has));
      });
      assert.ok(one.text.includes(t.wrong));
      assert.equal(one.field(t.label).value, '');
      await one.press(text.labels.notNow);
      assert.deepEqual([given, one.text], [false, '']);
    });
  });

  describe('the models that use a document', () => {
    const t = text.models.references;

    it('models are updated once at a time, and only after the effects were shown', async () => {
      const answers = page.hold();
      let changed = 0;
      const one = await page.open(
        h(ReferenceModels, {
          uri: 'u',
          read: { text: '{}', etag: '"1"' },
          isFetched: false,
          onChanged: () => (changed += 1),
        }),
      );
      await one.press(t.check);
      await one.press(t.check);
      assert.equal(page.sent.length, 1);
      const dependents = [
        { domain: 'D', model: 'A', status: 'updated' },
        { domain: 'D', model: 'B', status: 'refused' },
      ];
      await one.act(() => answers[0]?.(Response.json({ dependents })));
      assert.equal(changed, 0);
      await one.press(t.update(1));
      await one.press(t.update(1));
      assert.deepEqual(page.lines, [
        'PUT api/v2/references?uri=u&dependents=true&dryRun=true',
        'PUT api/v2/references?uri=u&dependents=true',
      ]);
      await one.act(() => answers[1]?.(Response.json({ dependents })));
      assert.deepEqual([changed, one.text.includes(t.updated(1))], [1, true]);
      assert.equal(one.buttons.includes(t.update(1)), false);
    });
  });

  describe('a retention policy', () => {
    const t = text.retention;
    const policyOf = (mode: 'report' | 'enforce') =>
      ({
        name: 'old',
        mode,
        target: 'entities',
        query: 'type=T',
        olderThan: 'P1D',
        by: 'modifiedAt',
        schedule: '0 3 * * *',
        timeZone: 'UTC',
        maxGrowth: 3,
        enabled: true,
        caller: 'me',
        modifiedAt: '2026-01-01T00:00:00Z',
      }) as unknown as RetentionPolicy;

    const serve = (mode: 'report' | 'enforce') => {
      page.answer = ({ method, url }) => {
        if (method !== 'GET') return Response.json({ id: 'p-1', name: 'old' });
        if (url.endsWith('/preview'))
          return Response.json({ matched: 4, query: 'type=T', cutoff: '2026-01-01T00:00:00Z', sample: [] });
        return url.includes('/runs')
          ? Response.json([])
          : Response.json(policyOf(mode), { headers: { etag: '"1"' } });
      };
    };

    it('a policy that deletes is run after its preview and its name, and can be stopped at once', async () => {
      serve('enforce');
      const one = await page.open(h(PolicyPage, { name: 'old', step: 'enforce' }));
      assert.equal(one.buttons.includes(t.enforceGo), false, 'it does so already');
      await one.press(t.run);
      await one.submit();
      assert.equal(page.writes.length, 0);
      await one.type(t.enforceType('old'), 'old');
      await one.press(t.runGo);
      assert.deepEqual(
        page.lines.filter((line) => line.startsWith('POST')),
        ['POST api/v2/retention-policies/old/run'],
      );
      assert.equal(page.location.hash, '#/purge/p-1');
      await one.press(t.report);
      const last = page.writes.at(-1);
      assert.deepEqual([last?.method, last?.headers.get('if-match')], ['PUT', '"1"']);
      assert.equal((JSON.parse(String(last?.body)) as { mode: string }).mode, 'report');
    });
  });
});
