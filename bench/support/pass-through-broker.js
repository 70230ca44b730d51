/**
 * A broker that only answers, in a separate process, for measuring what is in front of it. It answers a GET of one entity (0.5
 * kB), a GET of a page (30 kB), and a POST, whose body it reads. Its parent receives its URL over IPC.
 */
import { createServer } from 'node:http';

const LINK =
  '<https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"';

/** @param {number} index */
const entity = (index) => ({
  id: `urn:ngsi-ld:Vehicle:${index}`,
  type: 'Vehicle',
  brandName: { type: 'Property', value: 'Mercedes' },
  speed: { type: 'Property', value: 80, unitCode: 'KMH', observedAt: '2026-01-01T12:00:00Z' },
  location: { type: 'GeoProperty', value: { type: 'Point', coordinates: [8.68, 49.41] } },
  isParked: { type: 'Relationship', object: 'urn:ngsi-ld:OffStreetParking:Downtown1' },
  street: { type: 'Property', value: 'Rue de la République, 12' },
});

const one = Buffer.from(JSON.stringify(entity(1)));
const page = Buffer.from(JSON.stringify(Array.from({ length: 72 }, (_, index) => entity(index))));

const server = createServer({ keepAliveTimeout: 75_000 }, (req, res) => {
  if (req.method === 'POST') {
    req.resume().once('end', () => {
      res.writeHead(201, { Location: '/ngsi-ld/v1/entities/urn:ngsi-ld:Vehicle:1', 'Content-Length': 0 });
      res.end();
    });
    return;
  }
  const body = req.url === '/ngsi-ld/v1/entities/urn:ngsi-ld:Vehicle:1' ? one : page;
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length, Link: LINK });
  res.end(body);
});

process.once('message', () => {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.send?.({ url: `http://127.0.0.1:${String(address?.port)}` });
  });
});
process.once('disconnect', () => process.exit());
