// The handout, from the lesson's texts: problem, change, what is left, and the command, for all stages, on one sheet.

import { readFileSync } from 'node:fs';
import type { Both } from '../../loadtest/narration/language.ts';
import { type Html, html, trusted } from '../../loadtest/report/escape.ts';
import { type Lesson, lessons } from '../picture/lessons.ts';
import { type Language, legend, staircasePicture } from './staircase-picture.ts';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

const title: Both = ['Lockstep: the stages on one page', 'Lockstep：一页看完所有阶段'];
const heads: Both[] = [
  ['Stage', '阶段'],
  ['Problem', '问题'],
  ['Change', '改动'],
  ['Still broken', '留下的问题'],
  ['Try it', '看一看'],
];
const leads: Both = [
  'Each stage fixes one failure of the stage before and leaves another, which is the problem of the next stage.',
  '每个阶段修好前一阶段的一个故障，又留下自己的一个。一个阶段留下的，就是下一阶段的问题。',
];
const left: Both = [
  'A paused process resumes and believes it still holds the lock.',
  '暂停的进程醒来后以为自己还持有锁。',
];
const more: [what: Both, says: Both][] = [
  [
    ['Everything:', '全部：'],
    [
      'npm start plays and explains the stages, npm run staircase runs every drill under every stage, npm run page writes the lesson as one file.',
      'npm start 逐个演示并讲解各阶段，npm run staircase 在每个阶段下运行每个演练，npm run page 把课程写成一个文件。',
    ],
  ],
  [
    ['Three questions before you use a lock:', '用锁之前的三个问题：'],
    [
      'can the store do it in one step? Does the lock protect work or data? Can the resource compare a number at each read and write?',
      '存储能一步做完吗？锁保护的是工作量，还是数据？资源能在每次读写时比较一个数字吗？',
    ],
  ],
];

/** One A4 page in landscape, without scripts or external resources. */
export function handoutPage(language: Language): string {
  const say = (both: Both) => both[language === 'en' ? 0 : 1];
  const row = ({ stage, drill, problem, change }: Lesson, place: number): Html => {
    const next = lessons[place + 1];
    // The page alone has the scenario of the patient buyer.
    const shown = drill === 'patient-buyer' ? 'long-wait' : drill;
    const command = `npm start -- --stage ${place === 0 ? 0 : `${place - 1},${place}`} --drill ${shown}`;
    return html`<tr><th scope="row">${stage}</th>${[problem, change, next?.problem ?? left].map((each) => html`<td>${say(each)}</td>`)}<td><code>${command}</code></td></tr>\n`;
  };
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${say(title)}</title>
<style>
${trusted(read('./pages.css'))}${trusted(read('./handout.css'))}</style>
</head>
<body>
<main>
<h1>${say(title)}</h1>
<p>${say(leads)}</p>
<div class="scroll" tabindex="0" role="region" aria-label="${say(heads[0] as Both)}"><table class="stages">
<thead><tr>${heads.map((head) => html`<th scope="col">${say(head)}</th>`)}</tr></thead>
<tbody>${lessons.map(row)}</tbody>
</table></div>
<div class="below">
${staircasePicture(language)}
<div>
<p>${legend(language)}</p>
${more.map(([what, says]) => html`<p><b>${say(what)}</b> ${say(says)}</p>`)}
</div>
</div>
</main>
</body>
</html>
`.markup;
}
