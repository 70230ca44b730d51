import { useState } from 'preact/hooks';
import { Button, ButtonLink } from '../parts/button.js';
import { isConflict, type WithETag } from '../api/client.js';
import { Page, PendingPage, Unsaved } from '../parts/page.js';
import { fieldErrors, Failure } from '../parts/states.js';
import { mayBePolicy, PolicyName, Form, bindForm, Select, Field, TextArea } from '../parts/fields.js';
import { ConfirmDialog } from '../parts/dialog.js';
import { useAction, useLoad } from '../shared/hooks.js';
import { useDraft } from '../shared/drafts.js';
import { routeTo } from '../shared/router.js';
import { ForRole } from '../parts/for-role.js';
import { text } from '../strings.js';
import {
  putWritePolicy,
  readWritePolicy,
  removeWritePolicy,
  type WritePolicy,
} from './write-policies-api.js';
import {
  formOfWritePolicy,
  NEW_WRITE_POLICY,
  writeSettingsOf,
  type WritePolicyForm,
} from './write-policy-form.js';

/** The name in the address of the form for a new policy; no policy can have it. */
export const NEW = '+';

const CRUMBS = [[routeTo(['quality']), text.writes.back]] as const;

/** The form of the write policy that the address names, or of a new one. */
export function WritePolicyPage({ name }: { readonly name: string }) {
  // The warnings about a policy are only in the answer to its write.
  const [saved, setSaved] = useState<WritePolicy>();
  if (saved !== undefined)
    return (
      <Page title={text.writes.saved(saved.name)} crumbs={CRUMBS} isNarrow>
        {(saved.warnings ?? []).map((warning) => (
          <p key={warning} class="notice warn" role="alert">
            {warning}
          </p>
        ))}
        <ButtonLink href={routeTo(['quality'])} label={text.writes.back} />
      </Page>
    );
  return name === NEW ? <Editor onWarned={setSaved} /> : <Stored name={name} onWarned={setSaved} />;
}

interface OnWarned {
  readonly onWarned: (saved: WritePolicy) => void;
}

function Stored({ name, onWarned }: { readonly name: string } & OnWarned) {
  const { value, error, reload } = useLoad(name, (signal) => readWritePolicy(name, signal));
  if (value === undefined)
    return <PendingPage title={name} crumbs={CRUMBS} isNarrow {...{ error, reload }} />;
  return <Editor key={value.etag} read={value} onWarned={onWarned} onReload={reload} />;
}

function Editor({
  read,
  onWarned,
  onReload,
}: { readonly read?: WithETag<WritePolicy>; readonly onReload?: () => void } & OnWarned) {
  const t = text.writes;
  // Saving never replaces a newer version than the one the text is based on.
  const draft = useDraft<WritePolicyForm & { readonly base: string | undefined }>(
    `write policy ${read?.value.name ?? ''}`,
    () =>
      read === undefined
        ? { ...NEW_WRITE_POLICY, base: undefined }
        : { ...formOfWritePolicy(read.value), base: read.etag },
  );
  const { base, ...form } = draft.form;
  const { isBusy, error, run } = useAction();
  const [isRemoving, setIsRemoving] = useState(false);
  const mayBeName = mayBePolicy(form.name);
  const bind = bindForm<WritePolicyForm>(form, draft.change, fieldErrors(error));
  const { fields, choices } = t;
  const save = async () => {
    const saved = await putWritePolicy(form.name.trim(), writeSettingsOf(form), base);
    draft.forget();
    if ((saved.warnings ?? []).length > 0) onWarned(saved);
    else location.hash = routeTo(['quality']);
  };
  const readAnew = () => {
    draft.forget();
    onReload?.();
  };
  return (
    <Page
      title={read === undefined ? t.create : read.value.name}
      crumbs={CRUMBS}
      actions={draft.isChanged && <Unsaved onDiscard={draft.discard} />}
      isNarrow
    >
      <Form class="card" aria-label={t.form} onSubmit={() => mayBeName && run(save)}>
        <div class="grid">
          <PolicyName {...bind('name')} isReadOnly={read !== undefined} />
          <Select {...bind('mode')} label={text.labels.mode} choices={choices.mode} />
          <TextArea {...bind('types')} label={fields.types} hint={text.labels.linesHint} />
          <TextArea {...bind('callers')} label={fields.callers} hint={text.labels.linesHint} />
          <Select {...bind('tenants')} label={fields.tenants} choices={choices.tenants} />
          {form.tenants === 'one' && <Field {...bind('tenant')} label={text.labels.tenant} isRequired />}
          <Field {...bind('model')} label={text.labels.model} hint={t.modelHint} />
          <Field {...bind('priority')} label={fields.priority} hint={t.priorityHint} type="number" />
          <Select {...bind('onUnjudged')} label={fields.onUnjudged} choices={['accept', 'refuse']} />
          <Select {...bind('onFailure')} label={fields.onFailure} choices={choices.onFailure} />
          <Select {...bind('batch')} label={fields.batch} choices={choices.batch} />
          <Field {...bind('description')} label={text.labels.description} />
        </div>
        {form.mode === 'enforce' && <p class="notice warn">{t.enforces}</p>}
        {error !== undefined && <Failure error={error} />}
        {isConflict(error) && read !== undefined && (
          <Button class="small" onClick={readAnew} label={text.state.reload} />
        )}
        <ForRole roles={['modeller']}>
          <div class="actions">
            <Button type="submit" class="primary" disabled={isBusy || !mayBeName} label={text.labels.save} />
            {read !== undefined && <Button onClick={() => setIsRemoving(true)} label={text.labels.remove} />}
          </div>
        </ForRole>
      </Form>
      {isRemoving && read !== undefined && (
        <ConfirmDialog
          title={t.removeTitle(read.value.name)}
          message={t.removeWhat}
          confirm={text.labels.removePolicy}
          onClose={() => setIsRemoving(false)}
          onConfirm={async () => {
            await removeWritePolicy(read.value.name, read.etag);
            draft.forget();
            location.hash = routeTo(['quality']);
          }}
          onConflict={readAnew}
        />
      )}
    </Page>
  );
}
