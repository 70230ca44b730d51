import { useState } from 'preact/hooks';
import { optionsIn, purgeOption } from '../../sidecar/shared/purge-options.js';
import { Select, Field, type FieldProps, Checkbox } from '../parts/fields.js';
import { useDebounced } from '../shared/hooks.js';
import { useModelNames } from '../workbench/names.js';
import { invalidCharacter } from '../shared/header-value.js';
import { text } from '../strings.js';
import { suggestNames, useBrokerNames } from './broker-names.js';
import { contextOf, linkTo, optionLabel, type Field as Name, type PurgeForm } from './form.js';

/** The options that have fields: numbers, choices of several words, and single words that are either set or not. */
const OPTIONS = optionsIn('console').map((name) => {
  const { type, hint } = purgeOption(name);
  const words: readonly string[] = typeof type === 'string' ? [] : type;
  return { name, hint, words, label: optionLabel(name) };
});

/** The parameters of a geoquery. */
const GEO_FIELDS = ['georel', 'geometry', 'coordinates', 'geoproperty'] as const;

interface PurgeFieldsProps {
  readonly form: PurgeForm;
  readonly onChange: (form: PurgeForm) => void;
}

/** All fields of a purge, each with the name of its parameter. */
export function PurgeFields({ form, onChange }: PurgeFieldsProps) {
  const { target, fields } = form;
  const [hadGeo] = useState(GEO_FIELDS.some((name) => Boolean(fields[name])));
  const set = (changed: Partial<PurgeForm>) => onChange({ ...form, ...changed });
  const put = (values: Partial<Record<Name, string>>) => set({ fields: { ...fields, ...values } });
  const names = useBrokerNames(form.tenant, form.link);
  const models = useModelNames(useDebounced(fields.type?.split(',').at(-1) ?? ''));
  const modelNames = models.map((model) => model.slice(model.indexOf('/') + 1));
  const namesOf: Partial<Record<Name, readonly string[]>> = {
    type: [...new Set([...names.types, ...modelNames])],
    attrs: names.attributes,
  };
  const field = (
    name: Name,
    label: string,
    hint?: string,
    more: Pick<FieldProps, 'type' | 'placeholder'> = {},
  ) => (
    <Field
      key={name}
      label={label}
      hint={hint}
      {...more}
      {...(namesOf[name] === undefined
        ? {}
        : { suggestions: suggestNames(fields[name] ?? '', namesOf[name]) })}
      value={fields[name] ?? ''}
      onInput={(value) => put({ [name]: value })}
    />
  );
  const t = text.purge;
  return (
    <>
      <fieldset class="plain">
        <legend class="visually-hidden">{t.what}</legend>
        <div class="segments">
          {(['entities', 'temporal'] as const).map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="target"
                checked={target === one}
                onChange={() => set({ target: one })}
              />
              <span>{t[one]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <fieldset>
        <legend>{t.select}</legend>
        <div class="grid">
          {field('type', text.labels.type, t.typeHint)}
          {field('q', t.q, t.qHint)}
          {field('idPattern', t.idPattern, t.idPatternHint)}
          {field('attrs', t.attrs, target === 'temporal' ? t.attrsTemporalHint : t.attrsHint)}
          {field('id', t.id, t.idHint)}
          {field('scopeQ', t.scopeQ, t.scopeQHint)}
          <Field
            label={text.labels.tenant}
            hint={t.tenantHint}
            value={form.tenant}
            error={wrongHeader(form.tenant, t.unsendableTenant)}
            onInput={(tenant) => set({ tenant })}
          />
          <Field
            label={t.context}
            hint={t.contextHint}
            value={contextOf(form.link)}
            error={wrongHeader(contextOf(form.link), t.unsendableContext)}
            onInput={(context) => set({ link: linkTo(context) })}
          />
        </div>
      </fieldset>
      <details open={hadGeo}>
        <summary>{t.place}</summary>
        <div class="grid">
          {GEO_FIELDS.map((name) =>
            field(name, t[name], t.geoHints[name], { placeholder: t.geoExamples[name] }),
          )}
        </div>
      </details>
      {target === 'temporal' ? (
        <fieldset>
          <legend>{t.when}</legend>
          <div class="grid">
            <Select
              label={t.timerel}
              value={fields.timerel ?? ''}
              choices={[
                ['', t.timerels.none],
                ['before', t.timerels.before],
                ['after', t.timerels.after],
                ['between', t.timerels.between],
              ]}
              onInput={(timerel) =>
                put({
                  timerel,
                  ...(timerel === '' ? { timeAt: '' } : {}),
                  ...(timerel === 'between' ? {} : { endTimeAt: '' }),
                })
              }
            />
            {Boolean(fields.timerel) && field('timeAt', t.timeAt, t.timeHint)}
            {fields.timerel === 'between' && field('endTimeAt', t.endTimeAt, t.timeHint)}
            {field('timeproperty', t.timeproperty, t.timepropertyHint)}
            {field('datasetId', t.datasetId)}
          </div>
        </fieldset>
      ) : (
        <PartFields fields={fields} put={put} attributes={names.attributes} />
      )}
      <details open={OPTIONS.some(({ name }) => Boolean(fields[name])) || form.more !== ''}>
        <summary>{t.limits}</summary>
        <div class="grid">
          {OPTIONS.map(({ name, hint, words: [word, other], words, label }) => {
            const value = fields[name] ?? '';
            const onInput = (typed: string) => put({ [name]: typed });
            if (word === undefined) return field(name, label, hint, { type: 'number' });
            if (other !== undefined)
              return (
                <Select
                  key={name}
                  {...{ label, value, onInput }}
                  choices={[['', text.labels.gatewayDefault], ...words]}
                />
              );
            return (
              <Checkbox
                key={name}
                label={label}
                value={value === word}
                onInput={(isOn) => onInput(isOn ? word : '')}
              />
            );
          })}
          <Field
            label={t.more}
            hint={t.moreHint}
            value={form.more}
            onInput={(more) => set({ more })}
            isWide
          />
        </div>
      </details>
    </>
  );
}

/** Returns the error for a text that cannot be sent in a header field. */
function wrongHeader(value: string, words: (character: string) => string): string | undefined {
  const character = invalidCharacter(value);
  return character === undefined ? undefined : words(character);
}

/** Fields that choose between deleting whole entities or some of their attributes. */
function PartFields({
  fields,
  put,
  attributes,
}: {
  readonly fields: PurgeForm['fields'];
  readonly attributes: readonly string[];
  readonly put: (values: Partial<Record<Name, string>>) => void;
}) {
  const t = text.purge;
  // Until a name is typed, the form does not show which of the two was chosen.
  const [chosen, setChosen] = useState<'whole' | 'drop' | 'keep'>('whole');
  const part = fields.drop ? 'drop' : fields.keep ? 'keep' : chosen;
  const names = part === 'whole' ? '' : (fields[part] ?? '');
  return (
    <div class="grid section">
      <Select
        label={t.parts}
        value={part}
        choices={[
          ['whole', t.whole],
          ['drop', t.drop],
          ['keep', t.keep],
        ]}
        onInput={(next) => {
          setChosen(next);
          put({ drop: '', keep: '', ...(next === 'whole' ? {} : { [next]: names }) });
        }}
      />
      {part !== 'whole' && (
        <Field
          label={t.attributeNames}
          hint={t.attributeNamesHint}
          suggestions={suggestNames(names, attributes)}
          value={names}
          onInput={(value) => {
            setChosen(part);
            put({ [part]: value });
          }}
        />
      )}
    </div>
  );
}
