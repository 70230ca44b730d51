import { routeTo } from '../shared/router.js';
import { text } from '../strings.js';

/** What is shown at an address that names no page. */
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
