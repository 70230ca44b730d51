/**
 * A bare Fastify server in a separate process. GET /document answers with the bytes that its parent sends it over IPC, and POST
 * /echo with the JSON that it receives.
 */
import Fastify from 'fastify';

/** @param {{ text: string, mediaType: string }} document */
async function serve({ text, mediaType }) {
  const body = Buffer.from(text);
  const app = Fastify();
  app.get('/document', (_request, reply) => reply.type(mediaType).send(body));
  app.post('/echo', async (request) => request.body);
  process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
}

process.once('message', (message) => {
  void serve(/** @type {{ text: string, mediaType: string }} */ (message));
});
process.once('disconnect', () => process.exit());
