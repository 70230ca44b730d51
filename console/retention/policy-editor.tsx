import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import {
  api,
  isConflict,
  type RetentionPolicy,
  type RetentionPreview,
  type RetentionSettings,
  type WithETag,
} from '../api/client.js';
import { Page, Unsaved } from '../parts/page.js';
import { fieldErrors, Failure } from '../parts/states.js';
import { mayBePolicy, PolicyName, Form, bindForm, Select, Field, Checkbox } from '../parts/fields.js';
import { ConfirmDialog } from '../parts/dialog.js';
import { optionsIn, purgeOption } from '../../sidecar/shared/purge-options.js';
import { optionLabel } from '../purge/form.js';
import { time } from '../shared/format.js';
import { useAction } from '../shared/hooks.js';
import { useDraft } from '../shared/drafts.js';
import { routeTo } from '../shared/router.js';
import { ForRole } from '../parts/for-role.js';
import { text } from '../strings.js';
import { writePolicy } from './policies-api.js';
import { formOfPolicy, NEW_POLICY, settingsOf, type PolicyForm } from './policy-form.js';
import { PolicyPreview, PolicySample } from './policy-preview.js';
import { nextRuns } from './schedule.js';

/** The step in the address of a policy's page that asks whether to enforce the policy. */
export const ENFORCE = 'enforce';

/** The form of a new or existing policy. Saving puts a policy in report mode; enforcing it is a separate step. */
export function PolicyEditor({
  read,
  onSaved,
}: {
  readonly read?: WithETag<RetentionPolicy>;
  readonly onSaved?: () => void;
}) {
  const t = text.retention;
  // Saving never replaces a newer version than the one the text is based on.
  const draft = useDraft<PolicyForm & { readonly base: string | undefined }>(
    `policy ${read?.value.name ?? ''}`,
    () =>
      read === undefined
        ? { ...NEW_POLICY, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, base: undefined }
        : { ...formOfPolicy(read.value), base: read.etag },
  );
  const { base, ...form } = draft.form;
  const saving = useAction();
  const counting = useAction();
  const error = saving.error ?? counting.error;
  const [isAsking, setIsAsking] = useState(false);
  // The preview, with the settings that it is for.
  const [preview, setPreview] = useState<{
    readonly of: RetentionSettings;
    readonly found: RetentionPreview;
  }>();
  const mayBeName = mayBePolicy(form.name);
  const isEnforced = read?.value.mode === 'enforce';
  const bind = bindForm<PolicyForm>(form, draft.change, fieldErrors(error));
  const save = async (step?: typeof ENFORCE) => {
    const { name } = await writePolicy(form.name.trim(), settingsOf(form, read?.value), base);
    draft.forget();
    onSaved?.();
    location.hash = routeTo(['retention', name, ...(step === undefined ? [] : [step])]);
  };
  const beginToSave = (step?: typeof ENFORCE) => {
    setIsAsking(false);
    counting.clear();
    saving.run(() => save(step));
  };
  const look = async () => {
    saving.clear();
    setPreview(undefined);
    const settings = settingsOf(form, read?.value);
    // The name says which policy has run before.
    const body = read === undefined ? settings : { ...settings, name: read.value.name };
    const found = await api.json('post', '/retention-policies/preview', { body, isReadOnly: true });
    setPreview({ of: settings, found });
  };
  const isSeen = JSON.stringify(preview?.of) === JSON.stringify(settingsOf(form, read?.value));
  const [next] = nextRuns(form.schedule, form.timeZone, 1, new Date()) ?? [];
  return (
    <Page
      title={read === undefined ? t.create : read.value.name}
      crumbs={[[routeTo(['retention']), t.back]]}
      actions={draft.isChanged && <Unsaved onDiscard={draft.discard} />}
      isNarrow
    >
      <Form
        class="card"
        onSubmit={() => {
          if (saving.isBusy || !mayBeName) return;
          if (isEnforced) setIsAsking(true);
          else beginToSave();
        }}
      >
        <div class="grid">
          <PolicyName {...bind('name')} isReadOnly={read !== undefined} />
          <Select
            {...bind('target')}
            label={text.labels.target}
            choices={[
              ['entities', text.purge.entities],
              ['temporal', text.purge.temporal],
            ]}
          />
          <Field {...bind('query')} label={text.labels.query} hint={t.queryHint} isRequired />
          <Field {...bind('tenant')} label={text.labels.tenant} hint={text.purge.tenantHint} />
          <Field {...bind('olderThan')} label={t.olderThan} hint={t.olderThanHint} isRequired />
          <Field {...bind('by')} label={text.labels.by} hint={t.byHint} isRequired />
          <Field
            {...bind('schedule')}
            label={text.labels.schedule}
            hint={next === undefined ? t.scheduleHint : `${t.nextRun}: ${time(next.getTime())}`}
            isRequired
          />
          <Field {...bind('timeZone')} label={t.timeZone} isRequired />
          {optionsIn('retention').map((name) => {
            const { type, hint } = purgeOption(name);
            return typeof type === 'string' ? (
              <Field key={name} {...bind(name)} label={optionLabel(name)} hint={hint} />
            ) : (
              <Select
                key={name}
                {...bind(name)}
                label={optionLabel(name)}
                choices={[['', text.labels.gatewayDefault], ...type]}
              />
            );
          })}
          <Field {...bind('maxGrowth')} label={t.maxGrowth} hint={t.maxGrowthHint} />
          <Field {...bind('description')} label={text.labels.description} />
        </div>
        <Checkbox {...bind('enabled')} label={t.enabled} />
        {error !== undefined && <Failure error={error} />}
        {isConflict(error) && read !== undefined && (
          <Button
            class="small"
            onClick={() => {
              draft.forget();
              onSaved?.();
            }}
            label={text.state.reload}
          />
        )}
        {isEnforced && <p class="notice warn">{t.saveStops(form.name)}</p>}
        <section aria-live="polite" aria-label={text.labels.preview}>
          {preview !== undefined && (
            <div class={isSeen ? undefined : 'outdated'}>
              <PolicyPreview preview={preview.found} />
              {!isSeen && <p class="quiet">{t.previewOld}</p>}
            </div>
          )}
        </section>
        <ForRole roles={['purger']}>
          <div class="actions">
            <Button
              disabled={counting.isBusy}
              onClick={() => counting.run(look)}
              label={counting.isBusy ? text.preview.counting : text.labels.preview}
            />
            <Button
              type="submit"
              class="primary"
              disabled={saving.isBusy || !mayBeName}
              label={t.saveReport}
            />
            {isEnforced && (
              <Button disabled={saving.isBusy} onClick={() => beginToSave(ENFORCE)} label={t.saveEnforce} />
            )}
          </div>
        </ForRole>
        {/* Below the buttons, and not announced: with the keyboard, they would be a hundred ids away. */}
        {preview !== undefined && (
          <div class={isSeen ? undefined : 'outdated'}>
            <PolicySample preview={preview.found} settings={preview.of} />
          </div>
        )}
      </Form>
      {isAsking && (
        <ConfirmDialog
          title={t.saveTitle(form.name)}
          message={t.saveWhat}
          confirm={t.saveGo}
          onClose={() => setIsAsking(false)}
          onConfirm={async () => beginToSave()}
        />
      )}
    </Page>
  );
}
