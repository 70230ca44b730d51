import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import type { WithETag } from '../api/client.js';
import { Dialog, ConfirmDialog } from '../parts/dialog.js';
import { Form, bindForm, Select, Field, Checkbox, nonEmpty } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import {
  COMPATIBILITY_CHOICES,
  createDomain,
  removeDomain,
  updateDomain,
  type Domain,
} from './models-api.js';
import { toDomain, toModels } from './routes.js';

/** Asks for the settings of a new domain, or changes those of an existing one: its description, and which changes its models accept. */
export function DomainDialog({
  read,
  onClose,
}: {
  /** Undefined for a new domain. */
  readonly read?: WithETag<Domain>;
  /** Called after saving as well. */
  readonly onClose: () => void;
}) {
  const t = text.models;
  const { name = '', description = '', compatibility = 'none' } = read?.value ?? {};
  const [form, setForm] = useState({ name, description, compatibility });
  const bind = bindForm(form, (changed) => setForm({ ...form, ...changed }));
  const { isBusy, error, run } = useAction();
  const save = async () => {
    const given = { ...nonEmpty({ description: form.description }), compatibility: form.compatibility };
    if (read === undefined) {
      location.hash = toDomain((await createDomain({ name: form.name.trim(), ...given })).name);
      return;
    }
    await updateDomain(name, { description: null, ...given }, read.etag);
    onClose();
  };
  return (
    <Dialog title={read === undefined ? t.createDomain : t.editDomain(read.value.name)} onClose={onClose}>
      <Form method="dialog" onSubmit={() => run(save)}>
        <div class="stack">
          {read === undefined && (
            <Field {...bind('name')} label={text.labels.name} hint={text.labels.nameHint} isRequired isWide />
          )}
          <Field {...bind('description')} label={text.labels.description} isWide />
          <Select {...bind('compatibility')} label={t.defaultCompatibility} choices={COMPATIBILITY_CHOICES} />
        </div>
        {error !== undefined && <Failure error={error} />}
        <div class="actions">
          <Button
            type="submit"
            class="primary"
            disabled={isBusy}
            label={read === undefined ? t.createDomainGo : text.labels.save}
          />
          <Button onClick={onClose} label={text.cancel} />
        </div>
      </Form>
    </Dialog>
  );
}

/** Confirms the deletion of a domain. To delete it with its models, the user has to tick a box and type its name. */
export function RemoveDomainDialog({
  read: { value: domain, etag },
  models,
  onClose,
  onConflict,
}: {
  readonly read: WithETag<Domain>;
  /** Number of models in the domain, as far as known. */
  readonly models: number;
  readonly onClose: () => void;
  /** Called if the domain was changed elsewhere. It has to be read again, with the number of its models. */
  readonly onConflict: () => void;
}) {
  const t = text.models;
  const { name } = domain;
  const [isCascade, setIsCascade] = useState(false);
  const [typed, setTyped] = useState('');
  return (
    <ConfirmDialog
      title={t.removeDomainTitle(name)}
      message={models === 0 ? t.removeDomainEmpty : t.removeDomainWhat(models)}
      confirm={isCascade ? t.removeDomainAll : t.removeDomainGo}
      onClose={onClose}
      isReady={models === 0 || (isCascade && typed.trim() === name)}
      onConfirm={async () => {
        await removeDomain(name, isCascade, etag);
        location.hash = toModels();
      }}
      onConflict={() => {
        // What the user confirmed is no longer the current state.
        setIsCascade(false);
        setTyped('');
        onConflict();
      }}
    >
      {models > 0 && (
        <>
          <Checkbox label={t.removeDomainCascade(models)} value={isCascade} onInput={setIsCascade} />
          {isCascade && <Field label={t.typeName(name)} value={typed} onInput={setTyped} isWide />}
        </>
      )}
    </ConfirmDialog>
  );
}
