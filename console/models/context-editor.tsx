import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { isConflict, type WithETag } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Page, Unsaved } from '../parts/page.js';
import { Form, Field } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { useAction } from '../shared/hooks.js';
import { useDraft } from '../shared/drafts.js';
import { ForRole } from '../parts/for-role.js';
import { text } from '../strings.js';
import { createContext, readContext, updateContext, type WrittenContext } from './contexts-api.js';
import { DependentList } from './change-report.js';
import { errorsOf, jsonError } from '../editor/errors.js';
import { shownJson } from '../parts/json-text.js';
import { NEW_CONTEXT, toContext, toContexts } from './routes.js';
import { JsonEditor } from '../editor/json-editor.js';
import { isObject } from './samples.js';

/** Number of lines of the body before those of the context. */
const LINES_BEFORE = 1;

/** The form for a new custom context, or for changing one. */
export function ContextEditor({
  name: given,
  read,
  onSaved,
}: {
  readonly name?: string;
  readonly read?: WithETag<unknown>;
  readonly onSaved?: () => void;
}) {
  const t = text.models.contexts;
  const draft = useDraft(`context ${given ?? NEW_CONTEXT}`, () => ({
    name: given ?? '',
    typed:
      read === undefined ? NEW_TEXT : shownJson(isObject(read.value) ? read.value['@context'] : read.value),
    etag: read?.etag ?? '',
  }));
  const { name, typed, etag } = draft.form;
  const [written, setWritten] = useState<WrittenContext>();
  const { isBusy, error, run, clear } = useAction();
  const syntaxError = jsonError(typed);
  const save = async () => {
    const done =
      read === undefined || given === undefined
        ? await createContext(name.trim(), typed)
        : await updateContext(given, typed, etag);
    draft.forget();
    if (done.warnings.length + done.dependents.length > 0) setWritten(done);
    else leave(done.name);
  };
  /** Saving the text will replace the version that is current now. */
  const goOn = async () => {
    if (given !== undefined) draft.change({ etag: (await readContext(given)).etag });
  };
  const leave = (to: string) => {
    onSaved?.();
    location.hash = toContext(to);
  };
  if (written !== undefined) return <SavedContext written={written} onGo={() => leave(written.name)} />;
  return (
    <Page
      title={given ?? t.create}
      crumbs={[[toContexts(), t.all], ...(given === undefined ? [] : [[toContext(given), given] as const])]}
      actions={draft.isChanged && <Unsaved onDiscard={draft.discard} />}
    >
      <Form class="card" onSubmit={() => syntaxError === undefined && run(save)}>
        {given === undefined && (
          <Field
            label={text.labels.name}
            hint={text.labels.nameHint}
            value={name}
            isRequired
            error={name === NEW_CONTEXT ? text.labels.nameHint : undefined}
            onInput={(value) => draft.change({ name: value })}
          />
        )}
        <JsonEditor
          label={t.document}
          value={typed}
          onInput={(value) => {
            draft.change({ typed: value });
            clear();
          }}
          errors={errorsOf(error, '/@context', LINES_BEFORE)}
          isSchema={false}
        />
        <p class="hint" role="status">
          {syntaxError === undefined ? t.documentHint : text.models.notJson(syntaxError)}
        </p>
        {given !== undefined && <p class="hint-box">{t.changeWhat}</p>}
        {error !== undefined && <Failure error={error} />}
        {isConflict(error) && (
          <div class="actions">
            <Button onClick={() => run(goOn)} label={text.models.goOn} />
            <p class="quiet">{text.models.goOnHint}</p>
          </div>
        )}
        <ForRole roles={['modeller']}>
          <div class="actions">
            <Button
              type="submit"
              class="primary"
              disabled={isBusy || syntaxError !== undefined}
              label={given === undefined ? t.createGo : t.save}
            />
          </div>
        </ForRole>
      </Form>
    </Page>
  );
}

const NEW_TEXT = `{
  "speed": "https://example.org/terms#speed"
}`;

/** Shown after saving a context that has warnings, or that changes the meaning of models. */
function SavedContext({ written, onGo }: { readonly written: WrittenContext; readonly onGo: () => void }) {
  const t = text.models.contexts;
  return (
    <Page title={written.name} isNarrow>
      <section class="notice warn" role="alert">
        <h3>{written.warnings.length > 0 ? t.savedWith(written.version) : t.saved(written.version)}</h3>
        {written.warnings.length > 0 && (
          <ul class="findings">
            {written.warnings.map(({ code, detail }, index) => (
              <li key={index}>
                {detail} <span class="chip">{code}</span>
              </li>
            ))}
          </ul>
        )}
        {written.dependents.length > 0 && <p>{t.followersChanged(written.dependents.length)}</p>}
      </section>
      {written.dependents.length > 0 && (
        <Card id="followers" title={t.followers}>
          <DependentList dependents={written.dependents} />
        </Card>
      )}
      <div class="actions">
        <Button class="primary" onClick={onGo} label={t.show} />
      </div>
    </Page>
  );
}
