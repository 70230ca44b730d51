import type { Status } from '../api/client.js';
import { time } from '../shared/format.js';
import { text } from '../strings.js';

/** What purges have learnt about the broker: what it refuses or ignores, and what it was observed to do. */
export function Learnt({ lessons }: { readonly lessons: Status['learnt'] }) {
  const t = text.overview;
  if (lessons.length === 0) return <p class="quiet">{t.nothingLearnt}</p>;
  return (
    <>
      <p class="quiet">{t.learntFor}</p>
      <ul class="learnt">
        {lessons.map(({ collection, name, kind, detail, learntAt }) => (
          <li key={`${collection} ${name}`}>
            <span class={kind === 'proof' ? 'chip good' : 'chip warn'}>{t.kinds[kind]}</span>
            <span>{detail}</span>
            <span class="quiet">
              {collection === 'entities' ? text.purge.entities : text.purge.temporal} · {time(learntAt)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
