import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { h } from 'preact';
// Loaded here, so that no test has to wait for it. The editor cannot be shown, and falls back to a plain field.
import '../../../console/editor/code-view.js';
import { ContextEditor } from '../../../console/models/context-editor.js';
import { draftName, ModelSchema } from '../../../console/models/model-schema.js';
import type { Model } from '../../../console/models/models-api.js';
import { NewModelPage } from '../../../console/models/new-model.js';
import { ReferencesPage } from '../../../console/models/references-page.js';
import { PolicyEditor } from '../../../console/retention/policy-editor.js';
import { getDraft } from '../../../console/shared/drafts.js';
import { text } from '../../../console/strings.js';
import { openTab, problem, tagged } from './open-tab.js';

const t = text.models;

describe('drafts and saving', () => {
  const page = openTab();
  const trial = (version: number) => ({
    dryRun: true,
    outcome: 'version',
    version,
    warnings: [],
    change: { overall: 'compatible', differences: [] },
  });

  describe('the schema of a model', () => {
    const model = {
      domain: 'D',
      name: 'M',
      version: 1,
      compatibility: 'none',
      references: [],
      schema: { title: 'stored' },
    } as unknown as Model;
    const schemaPage = (etag: string, schema: unknown = model.schema, onChanged = () => {}) =>
      h(ModelSchema, { read: { value: { ...model, schema }, etag }, onChanged });
    const area = t.schema;
    const writes = () => page.sent.filter(({ url, method }) => method === 'PUT' && !url.includes('dryRun'));

    it('text typed while a schema is being saved is kept, and continues from the saved version', async () => {
      let give: (response: Response) => void = () => undefined;
      page.answer = ({ url }) =>
        url.includes('dryRun')
          ? tagged(trial(2), '"1"')
          : new Promise<Response>((resolve) => (give = resolve));
      const one = await page.open(schemaPage('"1"'));
      await one.type(area, '{"title": "a"}');
      await one.pass(500);
      await one.press(t.saveVersion(2));
      assert.deepEqual(writes()[0]?.headers.get('if-match'), '"1"');
      await one.type(area, '{"title": "ab"}');
      await one.act(() => give(tagged({ version: 2 }, '"2"')));
      assert.equal(one.field(area).value, '{"title": "ab"}');
      assert.deepEqual(getDraft(draftName(model)), { text: '{"title": "ab"}', etag: '"2"' });
    });

    it('a saved schema keeps its formatting until it is read again, and is no longer a draft', async () => {
      page.answer = ({ url }) =>
        url.includes('dryRun') ? tagged(trial(2), '"1"') : tagged({ version: 2 }, '"2"');
      let changed = 0;
      const one = await page.open(schemaPage('"1"', undefined, () => (changed += 1)));
      await one.type(area, '{"title":   "a"}');
      await one.pass(500);
      await one.press(t.saveVersion(2));
      assert.deepEqual([changed, getDraft(draftName(model))], [1, undefined]);
      assert.equal(one.field(area).value, '{"title":   "a"}');
      assert.ok(one.text.includes(t.savedAs(2)));
      assert.equal(one.buttons.includes(t.discard), false);
      await one.give(schemaPage('"2"', { title: 'a' }));
      assert.equal(one.field(area).value, '{\n  "title": "a"\n}');
    });

    it('a draft that is discarded, or typed back, leaves the stored schema', async () => {
      page.answer = () => tagged(trial(2), '"1"');
      const one = await page.open(schemaPage('"1"'));
      const stored = one.field(area).value;
      await one.type(area, '{');
      assert.ok(one.buttons.includes(t.discard));
      await one.press(t.discard);
      assert.deepEqual([one.field(area).value, getDraft(draftName(model))], [stored, undefined]);
      await one.type(area, '{}');
      await one.type(area, stored);
      assert.deepEqual([getDraft(draftName(model)), one.text.includes(t.unchanged)], [undefined, true]);
    });
  });

  describe('a new model', () => {
    it('a new model waits for its schema, its domain and its name, and says which is missing', async () => {
      page.answer = ({ url }) =>
        url.includes('dryRun') ? Response.json({ ...trial(1), outcome: 'created' }) : Response.json([]);
      const one = await page.open(h(NewModelPage, { params: new URLSearchParams() }));
      const waits = (words: string) => {
        assert.ok(one.text.includes(words), `${words} in ${one.text}`);
        assert.ok(one.buttons.includes(`(${text.labels.save})`));
      };
      waits(t.needsSchema);
      await one.type(t.schema, '{');
      assert.ok(one.buttons.includes(`(${text.labels.save})`));
      await one.type(t.schema, '{}');
      waits(t.needsDomain);
      for (const wrong of ['-1', 'a b', '', `a${'b'.repeat(128)}`]) {
        await one.type(t.newDomain, wrong);
        waits(t.needsDomain);
      }
      await one.type(t.newDomain, `a${'b'.repeat(127)}`);
      waits(t.needsName);
      await one.type(t.modelName, '~');
      waits(t.needsName);
      await one.type(t.newDomain, 'City');
      await one.type(t.modelName, 'Car');
      assert.ok(one.buttons.includes(t.saveCreated));
    });

    it('a new model in a new domain creates the domain once, even if the model is refused', async () => {
      page.answer = ({ method, url }) => {
        if (method === 'POST') return Response.json({ name: 'City' });
        if (method === 'PUT' && !url.includes('dryRun')) return problem(422, { detail: 'bad schema' });
        return Response.json(method === 'PUT' ? { ...trial(1), outcome: 'created' } : []);
      };
      const one = await page.open(h(NewModelPage, { params: new URLSearchParams() }));
      await one.type(t.schema, '{}');
      await one.type(t.newDomain, ' City ');
      await one.type(t.modelName, 'Car');
      await one.press(t.saveCreated);
      assert.ok(one.text.includes('bad schema'));
      page.answer = ({ method }) =>
        Response.json(method === 'GET' ? [{ name: 'City' }] : { ...trial(1), outcome: 'created' });
      await one.type(t.schema, '{"title": "x"}');
      await one.pass(500);
      await one.press(t.saveCreated);
      const posts = page.sent.filter(({ method }) => method === 'POST');
      assert.deepEqual(
        posts.map(({ body }) => body),
        ['{"name":"City"}'],
      );
      assert.equal(page.sent.findLast(({ method }) => method === 'PUT')?.headers.get('if-none-match'), '*');
      assert.equal(page.location.hash, '#/models/City/Car');
    });
  });

  describe('a context', () => {
    const c = t.contexts;
    const read = { value: { '@context': { a: 'https://a.test' } }, etag: '"1"' };
    const written = { name: 'C', version: 2, warnings: [], dependents: [] };

    it('a context that was changed elsewhere is replaced only on request', async () => {
      page.answer = () => problem(412);
      const one = await page.open(h(ContextEditor, { name: 'C', read }));
      await one.type(c.document, '{"b": "https://b.test"}');
      await one.press(c.save);
      assert.ok(one.text.includes(text.state.conflict));
      page.answer = ({ method }) => (method === 'GET' ? tagged(read.value, '"7"') : Response.json(written));
      await one.press(t.goOn);
      await one.press(c.save);
      const puts = page.sent.filter(({ method }) => method === 'PUT');
      assert.deepEqual(
        puts.map(({ headers }) => headers.get('if-match')),
        ['"1"', '"7"'],
      );
      assert.equal(page.location.hash, '#/models/~contexts/C');
      assert.equal(getDraft('context C'), undefined);
    });
  });

  describe('a retention policy', () => {
    const r = text.retention;
    const matches = (matched: number) =>
      Response.json({ matched, sample: ['urn:Car:1'], cutoff: '2026-03-03T00:00:00Z', query: 'type=Car' });

    it('the preview of a new policy is shown before saving, and marked as outdated after a change', async () => {
      const form = await page.open(h(PolicyEditor, { onSaved: () => undefined }));
      await form.type(text.labels.name, 'old-cars');
      await form.type(text.labels.query, 'type=Car');
      page.answer = () => matches(7);
      await form.press(text.labels.preview);
      const [asked] = page.writes;
      assert.match(asked?.url ?? '', /retention-policies\/preview$/);
      assert.equal((JSON.parse(asked?.body ?? '') as { query: string }).query, 'type=Car');
      assert.ok(form.text.includes('7 entities would be deleted now') && form.text.includes('urn:Car:1'));
      assert.ok(!form.text.includes(r.previewOld));
      await form.type(r.olderThan, '30d');
      assert.ok(form.text.includes(r.previewOld));
      assert.equal(page.writes.length, 1);
    });

    it('every fault of a policy is shown at its field', async () => {
      const form = await page.open(h(PolicyEditor, { onSaved: () => undefined }));
      const errors = [
        { pointer: '/olderThan', detail: 'olderThan must be a duration.' },
        { pointer: '/schedule', detail: 'schedule must be a cron pattern.' },
      ];
      page.answer = () => problem(400, { errors });
      await form.press(text.labels.preview);
      for (const [label, said] of [
        [r.olderThan, 'olderThan must be a duration.'],
        [text.labels.schedule, 'schedule must be a cron pattern.'],
      ] as const) {
        const field = form.field(label);
        assert.equal(field.getAttribute('aria-invalid'), 'true', label);
        const note = form.all(`[id="${field.getAttribute('aria-describedby') ?? ''}"]`);
        assert.equal(note[0]?.textContent, said);
      }
      assert.equal(form.field(text.labels.query).getAttribute('aria-invalid'), 'false');
    });
  });

  describe('a reference document', () => {
    const uri = 'https://x.test/d.json';

    it('a document is deleted on the condition of its ETag, and read again if it was changed elsewhere', async () => {
      const answerWith =
        (etag: string, removal: Response) =>
        ({ method, url }: { method: string; url: string }) => {
          if (method === 'DELETE') return removal;
          return url.includes('limit=')
            ? Response.json([{ uri, source: 'imported', size: 2, modifiedAt: '2026-01-01T00:00:00Z' }])
            : new Response('{}', { headers: { etag } });
        };
      page.answer = answerWith('"1"', problem(412));
      const one = await page.open(h(ReferencesPage, { uri, params: new URLSearchParams() }));
      await one.press(text.labels.remove);
      const reads = () =>
        page.sent.filter(({ method, url }) => method === 'GET' && url.includes('uri=')).length;
      assert.equal(reads(), 1);
      page.answer = answerWith('"2"', problem(412));
      await one.press(t.references.removeGo);
      assert.deepEqual([reads(), one.text.includes(text.state.conflict)], [2, true]);
      page.answer = answerWith('"2"', new Response(null, { status: 204 }));
      await one.press(t.references.removeGo);
      const removals = page.sent.filter(({ method }) => method === 'DELETE');
      assert.deepEqual(
        removals.map(({ headers }) => headers.get('if-match')),
        ['"1"', '"2"'],
      );
      assert.equal(page.location.hash, '#/models/~references');
    });
  });
});
