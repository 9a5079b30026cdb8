import { openLab } from './virtual/lab.ts';
import { isVirtual, lockNamed } from './virtual/lock-service.ts';
import { strategies } from './locks/index.ts';
for (const name of Object.keys(strategies).filter(isVirtual)) {
  const t=performance.now();
  const lab = await openLab({ lock: lockNamed(name), leaseMs: 1000, masters: name==='redlock'?5:0 });
  lab.ask('SET','{inventory001}:stock',100);
  const answers: unknown[]=[];
  for (const i of [0,1,0,1]) lab.request(i, (s, c) => s.sell('001', c), (a) => answers.push(a?.body));
  await lab.schedule.until(()=>answers.length===4, 60_000);
  console.log(name, lab.now().toFixed(2), (performance.now()-t).toFixed(0), lab.ask('GET','{inventory001}:stock'), answers.map(a=>JSON.parse(String(a)).outcome ?? a).join());
  lab.close();
}
process.exit(0)
