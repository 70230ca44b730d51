import { after } from 'node:test';
import { demonstrateCity } from '../support/city-demonstration.js';
import { stopAll } from '../support/gateway-harness.js';

after(stopAll);

demonstrateCity({ entities: 50_000, broken: 1234, batch: 1000 });
