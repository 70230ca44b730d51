import { routeTo } from '../shared/router.js';
import { text } from '../strings.js';

/** Shown at an address that belongs to no page. */
export function NotFoundPage() {
  return (
    <div class="page narrow">
      <h1>{text.notFound.title}</h1>
      <p>{text.notFound.detail}</p>
      <p>
        <a href={routeTo(['purge'])}>{text.notFound.link}</a>
      </p>
    </div>
  );
}
