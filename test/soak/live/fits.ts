import type { Page } from 'playwright-core';

/** The windows in which everything must fit: a projector, a laptop, a phone. */
export const windows = [
  [1_280, 720],
  [1_024, 768],
  [400, 800],
] as const;

/** What does not fit in the window of a page, a sentence each: what stands out, is cut, or lies on something else. */
export async function whatDoesNotFit(page: Page): Promise<string[]> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  return page.evaluate(() => {
    const problems: string[] = [];
    const nameOf = (element: Element) =>
      `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''} "${element.textContent?.trim().slice(0, 40)}"`;
    const all = [...document.body.querySelectorAll<HTMLElement | SVGElement>('*')].filter(
      (element) => element.checkVisibility() && element.closest('.patterns') === null,
    );

    /** The part of an element that is seen: what scrolls hides the rest. */
    function seen(element: Element): DOMRect {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const box = { left, top, right, bottom };
      for (let around = element.parentElement; around !== null; around = around.parentElement) {
        if (getComputedStyle(around).overflowY === 'visible' || around === document.body) continue;
        const frame = around.getBoundingClientRect();
        box.left = Math.max(box.left, frame.left);
        box.top = Math.max(box.top, frame.top);
        box.right = Math.min(box.right, frame.right);
        box.bottom = Math.min(box.bottom, frame.bottom);
      }
      return new DOMRect(box.left, box.top, Math.max(0, box.right - box.left), Math.max(0, box.bottom - box.top));
    }
    const meet = (one: DOMRect, other: DOMRect, height = 2) =>
      Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2 &&
      Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > height;

    const { scrollWidth, scrollHeight } = document.documentElement;
    if (scrollWidth > innerWidth) problems.push(`The page is ${scrollWidth} wide in a window of ${innerWidth}.`);
    if (innerWidth >= 900 && scrollHeight > innerHeight + 1)
      problems.push(`The page is ${scrollHeight} high in a window of ${innerHeight}.`);

    for (const element of all) {
      if (!(element instanceof HTMLElement)) continue;
      const { overflowY, overflowX, display } = getComputedStyle(element);
      if (display === 'inline' || element.matches('input, select')) continue;
      const [tooWide, tooHigh] = [
        element.scrollWidth - element.clientWidth,
        element.scrollHeight - element.clientHeight,
      ];
      if (tooWide > 1) problems.push(`${nameOf(element)} is ${tooWide} px too wide for its place.`);
      if (tooHigh > 1 && overflowY === 'hidden') problems.push(`${nameOf(element)} is cut at its lower edge.`);
      if (overflowX === 'hidden' && tooWide > 1) problems.push(`${nameOf(element)} is cut.`);
    }

    // A list shows what is chosen in it.
    const pen = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
    for (const list of all) {
      if (!(list instanceof HTMLSelectElement)) continue;
      pen.font = getComputedStyle(list).font;
      const needed = pen.measureText(list.selectedOptions[0]?.label ?? '').width;
      const { paddingLeft, paddingRight } = getComputedStyle(list);
      const room = list.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - 20;
      if (needed > room) problems.push(`${list.selectedOptions[0]?.label} needs ${needed} px in a list of ${room}.`);
    }

    const controls = all.filter((element) => element.matches('button, a[href], select, input, summary'));
    // It stays in view, above what is scrolled.
    const stays = (element: Element) => element.closest('.orders') !== null && innerWidth <= 560;
    for (const [place, one] of controls.entries()) {
      for (const other of controls.slice(place + 1)) {
        if (one.contains(other) || other.contains(one) || stays(one) !== stays(other)) continue;
        if (meet(seen(one), seen(other))) problems.push(`${nameOf(one)} lies on ${nameOf(other)}.`);
      }
    }

    // What stays at the lower edge hides nothing once the page is scrolled to its end.
    scrollTo(0, scrollHeight);
    const end = document.querySelector('main')?.getBoundingClientRect().bottom ?? 0;
    for (const element of all.filter((each) => /fixed|sticky/.test(getComputedStyle(each).position))) {
      const { top, bottom } = element.getBoundingClientRect();
      if (bottom >= innerHeight - 1 && end > top + 1)
        problems.push(`${nameOf(element)} hides ${Math.round(end - top)} px of the page.`);
    }
    scrollTo(0, 0);

    // Nothing is measured in a drawing when it is drawn: its texts keep to it, and to their places.
    for (const drawing of document.querySelectorAll('.picture svg')) {
      const frame = drawing.getBoundingClientRect();
      const texts = [...drawing.querySelectorAll('text')].map((text) => ({ text, box: text.getBoundingClientRect() }));
      for (const [place, { text, box }] of texts.entries()) {
        if (box.left < frame.left - 1 || box.right > frame.right + 1) problems.push(`${nameOf(text)} stands out.`);
        // The box of a text has room for letters that reach higher and lower than most.
        for (const other of texts.slice(place + 1))
          if (meet(box, other.box, 8)) problems.push(`${nameOf(text)} lies on ${nameOf(other.text)}.`);
      }
      for (const { text } of texts)
        if (/…$/.test(text.textContent?.trim() ?? '')) problems.push(`${nameOf(text)} is cut in the picture.`);
    }
    return [...new Set(problems)];
  });
}
