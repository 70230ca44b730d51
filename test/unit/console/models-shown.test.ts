import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { h } from 'preact';
import { ApiError, UnreachableError } from '../../../console/api/client.js';
import { DomainDialog, RemoveDomainDialog } from '../../../console/models/domain-dialogs.js';
import { ImportPage } from '../../../console/models/import-page.js';
import type { Domain, Model, ModelDryRun } from '../../../console/models/models-api.js';
import { ModelVersions } from '../../../console/models/model-versions.js';
import { SavePanel } from '../../../console/models/save-panel.js';
import { text } from '../../../console/strings.js';
import { nameOf, openTab, problem, type Shown } from './open-tab.js';

describe('pages of models', () => {
  const page = openTab();

  describe('the effects of saving a model', () => {
    const t = text.models;
    const trialOf = (more: Partial<ModelDryRun> = {}): ModelDryRun => ({
      dryRun: true,
      outcome: 'version',
      version: 3,
      warnings: [],
      change: { overall: 'compatible', differences: [] },
      ...more,
    });
    const refusalOf = (status: number, more: object = {}) =>
      new ApiError({ title: 'A title', status, ...more }, undefined);
    type Props = Parameters<typeof SavePanel>[0];
    const panelOf = (more: Partial<Props> = {}) =>
      h(SavePanel, {
        dryRun: { isCurrent: true, found: trialOf(), error: undefined },
        blocked: undefined,
        isSaving: false,
        error: undefined,
        onSave: () => undefined,
        onRetry: () => undefined,
        ...more,
      });
    const failed = (error: unknown) => ({ isCurrent: true, found: undefined, error });

    it('a failed check offers a retry only if its result may change', async () => {
      for (const status of [401, 403, 408, 429, 500, 502, 503, 504]) {
        let again = 0;
        const panel = await page.open(
          panelOf({ dryRun: failed(refusalOf(status)), onRetry: () => (again += 1) }),
        );
        await panel.press(text.state.retry);
        assert.equal(again, 1, `${status}`);
      }
      const offline = await page.open(panelOf({ dryRun: failed(new UnreachableError('u', 'w', false, {})) }));
      assert.ok(offline.buttons.includes(text.state.retry));
      for (const status of [400, 404, 409, 412, 413, 422]) {
        const panel = await page.open(panelOf({ dryRun: failed(refusalOf(status)) }));
        assert.deepEqual(panel.buttons, [`(${text.labels.save})`], `${status}`);
      }
    });

    it('a failed save is shown instead of the check, and the check offers no retry', async () => {
      const panel = await page.open(panelOf({ error: refusalOf(503, { detail: 'the save' }) }));
      assert.ok(panel.text.includes('the save'));
      assert.equal(panel.buttons.includes(text.state.retry), false);
      assert.equal(panel.text.includes(t.outcomes.version(3)), false);
    });

    it('a model can be saved once the effects are known, and not twice at a time', async () => {
      const isWaiting = async (more: Partial<Props>) =>
        (await page.open(panelOf(more))).buttons.every((name) => name.startsWith('('));
      assert.equal(await isWaiting({}), false);
      assert.equal(await isWaiting({ blocked: 'not yet' }), true);
      assert.equal(await isWaiting({ isSaving: true }), true);
      assert.equal(await isWaiting({ dryRun: failed(undefined) }), true);
      assert.equal(
        await isWaiting({ dryRun: { isCurrent: false, found: trialOf(), error: undefined } }),
        true,
      );
    });

    it('the button names the effect of saving, and is marked as dangerous for a breaking change', async () => {
      const breaking = { overall: 'breaking', differences: [] } as const;
      for (const [more, label, kind] of [
        [{ outcome: 'created', version: 1 }, t.saveCreated, 'primary'],
        [{}, t.saveVersion(3), 'primary'],
        [{ change: breaking }, t.saveBreaking(3), 'danger'],
        [{ outcome: 'unchanged' }, text.labels.save, 'primary'],
        [{ outcome: 'replaced', change: breaking }, text.labels.save, 'danger'],
      ] as const) {
        let saved = 0;
        const found = trialOf(more);
        const panel = await page.open(
          panelOf({ dryRun: { isCurrent: true, found, error: undefined }, onSave: () => (saved += 1) }),
        );
        assert.ok(panel.text.includes(t.outcomes[found.outcome](found.version)), label);
        assert.equal(panel.named(label).className, kind);
        await panel.press(label);
        assert.equal(saved, 1);
      }
    });

    it('an overtaken text can continue from the current version', async () => {
      let went = 0;
      const overtaken = { dryRun: failed(refusalOf(412)) };
      const panel = await page.open(panelOf({ ...overtaken, onConflict: () => (went += 1) }));
      assert.ok(panel.text.includes(text.state.conflict));
      await panel.press(t.goOn);
      assert.equal(went, 1);
      const other = await page.open(panelOf({ ...overtaken, conflictTitle: 'It is there already.' }));
      assert.ok(other.text.includes('It is there already.'));
      assert.equal(other.buttons.includes(t.goOn), false);
      const conflict = await page.open(
        panelOf({ dryRun: failed(refusalOf(409)), onConflict: () => undefined }),
      );
      assert.equal(conflict.buttons.includes(t.goOn), false);
    });

    it('a refused change is shown with its report, and with the other compatibilities', async () => {
      const report = {
        overall: 'breaking',
        differences: [{ class: 'breaking', pointer: '/x', reason: 'type', detail: 'x is another thing' }],
      };
      const chosen: string[] = [];
      const panel = await page.open(
        panelOf({
          dryRun: failed(refusalOf(409, { report, detail: 'why not' })),
          compatibility: { now: 'backward', chosen: '', onChoose: (one) => chosen.push(one) },
        }),
      );
      for (const words of [t.refused, 'why not', t.refusedAdvice, 'x is another thing'])
        assert.ok(panel.text.includes(words), words);
      const offered = [...panel.field(t.saveWith).querySelectorAll('option')].map((one) => one.value);
      assert.deepEqual(offered, ['', 'none', 'forward', 'full']);
      await panel.choose(t.saveWith, 'none');
      assert.deepEqual(chosen, ['none']);
    });
  });

  describe('dialogs of a domain', () => {
    const t = text.models;
    const read = {
      value: { name: 'City', compatibility: 'full', description: 'old' } as Domain,
      etag: '"e"',
    };

    const removeOf = async (models: number) => {
      let overtaken = 0;
      const onConflict = () => (overtaken += 1);
      const dialog = await page.open(
        h(RemoveDomainDialog, { read, models, onClose: () => undefined, onConflict }),
      );
      return { dialog, overtaken: () => overtaken };
    };

    it('a domain without models is deleted on the condition of its ETag, without cascading', async () => {
      page.answer = () => new Response(null, { status: 204 });
      const { dialog } = await removeOf(0);
      await dialog.press(t.removeDomainGo);
      assert.deepEqual(page.lines, ['DELETE api/v2/domains/City']);
      assert.equal(page.sent[0]?.headers.get('if-match'), '"e"');
      assert.equal(page.location.hash, '#/models');
    });

    it('a domain that changed after the confirmation has to be confirmed again', async () => {
      page.answer = () => problem(412);
      const { dialog, overtaken } = await removeOf(2);
      await dialog.tick(t.removeDomainCascade(2), true);
      await dialog.type(t.typeName('City'), 'City');
      await dialog.press(t.removeDomainAll);
      assert.ok(dialog.text.includes(text.state.conflict));
      assert.deepEqual([overtaken(), dialog.buttons[0]], [1, `(${t.removeDomainGo})`]);
      await dialog.tick(t.removeDomainCascade(2), true);
      assert.equal(dialog.field(t.typeName('City')).value, '');
      page.answer = () => problem(503);
      await dialog.type(t.typeName('City'), 'City');
      await dialog.press(t.removeDomainAll);
      assert.deepEqual([overtaken(), dialog.buttons[0]], [1, t.removeDomainAll]);
    });

    it('a domain is changed on the condition of its ETag, and an emptied description is removed', async () => {
      let closed = 0;
      const dialog = await page.open(h(DomainDialog, { read, onClose: () => (closed += 1) }));
      await dialog.type(text.labels.description, '  ');
      page.answer = () => problem(412);
      await dialog.press(text.labels.save);
      assert.deepEqual([closed, dialog.text.includes(text.state.conflict)], [0, true]);
      page.answer = () => Response.json({});
      await dialog.choose(t.defaultCompatibility, 'none');
      await dialog.press(text.labels.save);
      assert.equal(closed, 1);
      const [, { method, headers, body } = assert.fail()] = page.sent;
      assert.deepEqual([method, headers.get('if-match')], ['PUT', '"e"']);
      assert.deepEqual(JSON.parse(body), { description: null, compatibility: 'none' });
    });
  });

  describe('an import', () => {
    const t = text.models.imports;
    const reportOf = (dryRun: boolean, more: object = {}, dependents: readonly object[] = []) => ({
      summary: {
        dryRun,
        created: 1,
        updated: 1,
        unchanged: 0,
        refused: 0,
        models: 2,
        ignored: 0,
        examples: { valid: 0, invalid: 0, unchecked: 0, kept: 0, leftOut: 0 },
        domains: ['City'],
        ...more,
      },
      files: [],
      dependents,
    });
    const start = async (domain = '') =>
      page.open(h(ImportPage, { params: new URLSearchParams({ domain }) }));
    const give = async (one: Shown, ...names: readonly string[]) => {
      await one.chooseFiles(names.map((name) => new File(['{}'], name)));
    };

    it('an import without any effect cannot be started, but an import that only changes dependent models can', async () => {
      const none = { created: 0, updated: 0 };
      for (const [dependents, label] of [
        [[], `(${t.go(0)})`],
        [[{ domain: 'D', model: 'M', status: 'refused' }], `(${t.go(0)})`],
        [[{ domain: 'D', model: 'M', status: 'updated' }], t.go(0)],
      ] as const) {
        page.answer = () => Response.json(reportOf(true, none, dependents));
        const one = await start();
        await give(one, 'model.json');
        assert.ok(one.buttons.includes(label), `${label} ${one.buttons.join()}`);
      }
    });

    it('a file that an import does not read, or several files, are not sent', async () => {
      const one = await start();
      for (const names of [['notes.txt'], ['City'], ['a.json', 'b.json']]) {
        await give(one, ...names);
        assert.ok(one.text.includes(t.wrongFile));
      }
      assert.deepEqual(page.sent, []);
    });

    it('an archive is sent unchanged, and a JSON file in a form', async () => {
      const one = await start();
      for (const name of ['a.tar.gz', 'a.TGZ', 'a.zip', 'a.json', 'a.jsonld']) await give(one, name);
      const types = page.sent.map(({ headers }) => headers.get('content-type')?.split(';')[0]);
      const form = 'multipart/form-data';
      assert.deepEqual(types, ['application/gzip', 'application/gzip', 'application/zip', form, form]);
      assert.equal(page.sent[0]?.body, '{}');
    });

    it('a late answer about earlier files does not replace that about the current ones', async () => {
      const answers: ((response: Response) => void)[] = [];
      page.answer = () => new Promise<Response>((resolve) => answers.push(resolve));
      const one = await start();
      await give(one, 'first.json');
      await give(one, 'second.json');
      await one.act(() => answers[1]?.(Response.json(reportOf(true, { created: 7, updated: 0 }))));
      await one.act(() => answers[0]?.(Response.json(reportOf(true, { created: 1, updated: 0 }))));
      assert.ok(one.buttons.includes(t.go(7)));
      assert.equal(page.sent[0]?.signal.aborted, true);
    });
  });

  describe('the versions of a model', () => {
    const t = text.models;
    const modelOf = (version: number) => ({ domain: 'D', name: 'M', version }) as Model;
    const versionsOf = (first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, index) => ({
        version: first + index,
        createdAt: '2026-01-01T00:00:00Z',
        dialect: 'd',
        size: 1,
        description: '',
      }));

    it('all versions are listed, newest first', async () => {
      page.answer = ({ url }) => {
        const offset = new URL(url).searchParams.get('offset');
        if (offset === null) return new Promise<Response>(() => undefined);
        return Response.json(versionsOf(1, 3));
      };
      const one = await page.open(
        h(ModelVersions, { read: { value: modelOf(3), etag: '"e"' }, params: new URLSearchParams() }),
      );
      assert.deepEqual(one.all('a').map(nameOf), [3, 2, 1].map(t.versionName));
    });

    it('the last two versions are compared unless the address names others that exist, and each version can be compared with its predecessor', async () => {
      page.answer = ({ url }) =>
        url.includes('offset') ? Response.json(versionsOf(1, 5)) : new Promise<Response>(() => undefined);
      const asked = () =>
        page.lines.filter((line) => line.includes('diff')).map((line) => line.split('?')[1]);
      for (const [params, compared] of [
        ['', 'from=4&to=5'],
        ['to=3', 'from=2&to=3'],
        ['to=1', undefined],
        ['from=1', 'from=1&to=5'],
        ['from=x&to=0', 'from=4&to=5'],
        ['from=99', 'from=4&to=5'],
        ['from=99&to=3', 'from=2&to=3'],
        ['from=2&to=99', 'from=2&to=5'],
      ] as const) {
        const before = asked().length;
        const one = await page.open(
          h(ModelVersions, { read: { value: modelOf(5), etag: '"e"' }, params: new URLSearchParams(params) }),
        );
        assert.deepEqual(asked().slice(before), compared === undefined ? [] : [compared], params);
        await one.press(t.compareWith(3));
        assert.equal(page.location.replaced.at(-1), '#/models/D/M/versions?from=3&to=4');
      }
    });
  });
});
