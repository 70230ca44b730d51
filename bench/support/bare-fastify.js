/**
 * A bare Fastify server in a process of its own: GET /document answers the bytes that its parent sends it over IPC,
 * POST /echo the JSON that it is sent.
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
