import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { api } from '../api/client.js';
import { Card } from '../parts/card.js';
import { isResourceName } from '../../sidecar/shared/resource-name.js';
import { Select, Checkbox } from '../parts/fields.js';
import { Failure } from '../parts/states.js';
import { useDraft } from '../shared/drafts.js';
import { useAction } from '../shared/hooks.js';
import { text } from '../strings.js';
import { errorsOf, jsonError } from '../editor/errors.js';
import { detectForm, modelName, plainSample, samplesOf, type SampleForm } from './samples.js';
import { JsonEditor } from '../editor/json-editor.js';

/** The name of the draft of the samples. */
export const SAMPLE_DRAFT = 'samples';

/** The result of inferring a schema from samples. */
export interface Inferred {
  readonly schema: unknown;
  /** The first sample in the form that the schema describes, if possible. */
  readonly example: Readonly<Record<string, unknown>> | undefined;
  readonly name: string | undefined;
}

/** A field in which one or more entities are pasted, to infer a schema from them. */
export function SampleCard({
  onInferred,
  name,
}: {
  readonly onInferred: (inferred: Inferred) => void;
  /** The name of the model, if it has one already. */
  readonly name: string;
}) {
  const t = text.models.samples;
  const draft = useDraft(SAMPLE_DRAFT, () => ({ sample: '' }));
  const { sample } = draft.form;
  const [form, setForm] = useState<SampleForm | ''>('');
  const [isEnum, setIsEnum] = useState(false);
  const [isExample, setIsExample] = useState(true);
  const [message, setMessage] = useState('');
  const { isBusy, error, run, clear } = useAction();
  const guessed = formOf(sample);
  const syntaxError = sample.trim() === '' ? undefined : jsonError(sample);

  const infer = async () => {
    setMessage('');
    const samples = samplesOf(sample) ?? [];
    const used = form === '' ? detectForm(samples) : form;
    const model = isResourceName(name) ? name : modelName(samples);
    const query = {
      form: used,
      ...(isEnum ? { enum: true } : {}),
      ...(model === undefined ? {} : { model }),
    };
    const schema = await api.json('post', '/workbench/schema/infer', {
      query,
      body: sample,
      isReadOnly: true,
    });
    const [first] = samples;
    const example = isExample && first !== undefined ? plainSample(first, used) : undefined;
    setMessage(isExample && example === undefined ? t.doneWithout : t.done);
    onInferred({ schema, example, name: modelName(samples) });
  };
  return (
    <Card id="sample" title={t.title}>
      <p class="quiet">{t.lead}</p>
      <JsonEditor
        label={t.label}
        value={sample}
        onInput={(value) => {
          draft.change({ sample: value });
          setMessage('');
          clear();
        }}
        errors={errorsOf(error, '', 0)}
        isSchema={false}
        height="short"
      />
      <div class="grid section">
        <Select
          label={t.form}
          value={form}
          choices={[
            ['', guessed === undefined ? t.guess : t.guessed(t.forms[guessed])],
            ...FORMS.map((one) => [one, t.forms[one]] as const),
          ]}
          onInput={setForm}
        />
        <div>
          <Checkbox label={t.example} value={isExample} onInput={setIsExample} />
          <Checkbox label={t.enumerate} value={isEnum} onInput={setIsEnum} />
        </div>
      </div>
      {error !== undefined && <Failure error={error} />}
      <div class="actions">
        <Button
          disabled={isBusy || sample.trim() === '' || syntaxError !== undefined}
          onClick={() => run(infer)}
          label={t.go}
        />
        <p class="hint" role="status">
          {syntaxError === undefined ? message : text.models.notJson(syntaxError)}
        </p>
      </div>
    </Card>
  );
}

const FORMS = ['keyvalues', 'ngsi-ld', 'ngsiv2', 'geojson'] as const;

function formOf(sample: string): SampleForm | undefined {
  try {
    const samples = samplesOf(sample);
    return samples === undefined ? undefined : detectForm(samples);
  } catch {
    return undefined;
  }
}
