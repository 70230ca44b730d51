import { it } from 'node:test';
import { checkWritersBesidePurges } from '../support/writers-property.js';

it('a purge during writes by other clients deletes only fresh matches, respects its maximum, counts each effect, and learns nothing from races', async () => {
  await checkWritersBesidePurges(100, 20_261_126);
});
