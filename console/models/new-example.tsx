import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { isConflict } from '../api/client.js';
import { Card } from '../parts/card.js';
import { Field } from '../parts/fields.js';
import { ForRole } from '../parts/for-role.js';
import { Failure } from '../parts/states.js';
import { useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import { jsonError } from '../editor/errors.js';
import { addExample, validate, type Model, type Verdict } from './models-api.js';
import { JsonEditor } from '../editor/json-editor.js';
import { VerdictView } from '../workbench/verdicts.js';

/** Checks an entity against a model, and can store it as an example of the model. */
export function NewExample({
  model,
  onKept,
}: {
  readonly model: Model;
  /** Called when the example was kept with the model, whose version does not change. */
  readonly onKept: () => void;
}) {
  const t = text.models.examples;
  const [entity, setEntity] = useState('');
  const [name, setName] = useState('');
  const [message, setMessage] = useState('');
  const [verdict, setVerdict] = useState<Verdict>();
  const { isBusy, error, run, clear } = useAction();
  const syntaxError = entity.trim() === '' ? undefined : jsonError(entity);
  const check = async () => {
    const found = await validate(model, entity);
    const first = Array.isArray(found) ? (found[0] as Verdict) : (found as Verdict);
    setVerdict(first);
    if (name === '')
      setName(
        first.form === 'ngsiv2' || first.form === 'keyvalues' ? 'my-example.json' : 'my-example.jsonld',
      );
  };
  const keep = async () => {
    setMessage('');
    try {
      await addExample(model, name, entity);
    } catch (failure) {
      if (!isConflict(failure)) throw failure;
      setMessage(text.models.stored.taken(name));
      return;
    }
    setMessage(text.models.stored.kept(name));
    onKept();
  };
  return (
    <Card id="check" title={t.checkTitle}>
      <JsonEditor
        label={t.entity}
        value={entity}
        onInput={(value) => {
          setEntity(value);
          setVerdict(undefined);
          clear();
          setMessage('');
        }}
        errors={verdict?.errors ?? []}
        isSchema={false}
        height="short"
      />
      {verdict !== undefined && <VerdictView verdict={verdict} />}
      {error !== undefined && <Failure error={error} />}
      <div class="actions">
        <Button
          disabled={isBusy || entity.trim() === '' || syntaxError !== undefined}
          onClick={() => run(check)}
          label={t.check}
        />
        <p class="hint" role="status">
          {syntaxError === undefined ? message : text.models.notJson(syntaxError)}
        </p>
      </div>
      {verdict !== undefined && (
        <ForRole roles={['modeller']}>
          <Field
            label={text.models.stored.name}
            hint={text.models.stored.nameHint}
            value={name}
            onInput={setName}
          />
          <div class="actions">
            <Button
              disabled={isBusy || name === ''}
              onClick={() => run(keep)}
              label={text.models.stored.keep}
            />
          </div>
        </ForRole>
      )}
    </Card>
  );
}
