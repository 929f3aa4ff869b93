//! How far a stream is, by fence posts: events at some of the points in it.
//!
//! An event for each launch would cost as much as half of another launch. So there is one behind every [`EVERY`] operations, and one
//! wherever somebody asks how far the device is and none is near. Posts are passed in order.

use std::collections::VecDeque;

/// Operations from a post to the next.
pub(crate) const EVERY: u64 = 16;

/// A point in a stream: what was queued up to there since the stream was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Point {
    /// Number of the last piece of work that is complete.
    pub(crate) pieces: u64,
    /// Operations that take a place in the driver's queue.
    pub(crate) ops: u64,
    /// Launches.
    pub(crate) launches: u64,
    /// Launches whose reports are copied to the host up to this point.
    pub(crate) copied: u64,
    /// How often the time that a launch may take they may take together.
    pub(crate) time: u64,
}

/// The posts that the device was not seen to pass, and where they stand. `E` is an event.
#[derive(Debug)]
pub(crate) struct Posts<E> {
    /// The end of the stream.
    pub(crate) queued: Point,
    /// The last post that was passed.
    ended: Point,
    posts: VecDeque<(E, Point)>,
    /// Numbers of pieces and of launches at posts that were passed, as long as reports before them were not looked at.
    untold: VecDeque<(u64, u64)>,
    told: u64,
}

impl<E> Posts<E> {
    pub(crate) fn new() -> Self {
        Posts {
            queued: Point::default(),
            ended: Point::default(),
            posts: VecDeque::new(),
            untold: VecDeque::new(),
            told: 0,
        }
    }

    /// The last point that the device is known to have passed.
    #[inline]
    pub(crate) fn ended(&self) -> &Point {
        &self.ended
    }

    /// Number of the last piece of work that has ended and whose launches' reports were looked at.
    pub(crate) fn told(&self) -> u64 {
        self.told
    }

    #[inline]
    fn last(&self) -> &Point {
        self.posts.back().map_or(&self.ended, |(_, point)| point)
    }

    /// Whether something is queued behind the last post.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.queued.ops > self.last().ops
    }

    /// Whether it is time for another post.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.queued.ops - self.last().ops >= EVERY
    }

    /// Whether all that was queued is known to have ended.
    pub(crate) fn is_idle(&self) -> bool {
        self.queued.ops == self.ended.ops
    }

    /// Operations that may still be in the driver's queue.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.queued.ops - self.ended.ops
    }

    /// Time, as [`Point::time`] counts it, that all of them may take.
    pub(crate) fn time(&self) -> u64 {
        self.queued.time - self.ended.time
    }

    /// The same for those up to the first post: within this time something is seen to end.
    pub(crate) fn time_to_next(&self) -> u64 {
        let next = self.posts.front().map_or(&self.queued, |(_, point)| point);
        next.time - self.ended.time
    }

    /// Notes a post that was put at the end of the stream.
    pub(crate) fn put(&mut self, event: E) {
        self.queued.ops += 1;
        self.posts.push_back((event, self.queued));
    }

    /// The last post that was not passed.
    pub(crate) fn newest(&self) -> Option<&E> {
        self.posts.back().map(|(event, _)| event)
    }

    fn first(&self, reaches: impl Fn(&Point) -> bool) -> Option<&E> {
        let at = self.posts.partition_point(|(_, point)| !reaches(point));
        self.posts.get(at).map(|(event, _)| event)
    }

    /// The first post behind a piece of work.
    pub(crate) fn behind(&self, piece: u64) -> Option<&E> {
        self.first(|point| point.pieces >= piece)
    }

    /// The first post behind an operation.
    pub(crate) fn behind_op(&self, op: u64) -> Option<&E> {
        self.first(|point| point.ops >= op)
    }

    /// The first post behind which at most so many operations are.
    pub(crate) fn leaving(&self, ops: u64) -> Option<&E> {
        self.first(|point| self.queued.ops - point.ops <= ops)
    }

    /// Finds out which posts were passed, and hands out their events. Whether there were any.
    pub(crate) fn advance<R>(
        &mut self,
        mut passed: impl FnMut(&E) -> Result<bool, R>,
        mut give: impl FnMut(E),
    ) -> Result<bool, R> {
        // All before `known` were passed, and none from `open` on. The oldest is asked first: mostly it says that none was.
        let (mut known, mut open) = (0, self.posts.len());
        while known < open {
            let at = match known {
                0 => 0,
                _ => known + (open - known) / 2,
            };
            let Some((event, _)) = self.posts.get(at) else {
                break;
            };
            match passed(event)? {
                true => known = at + 1,
                false => open = at,
            }
        }
        for (event, point) in self.posts.drain(..known) {
            give(event);
            self.ended = point;
            self.untold.push_back((point.pieces, point.launches));
        }
        Ok(known > 0)
    }

    /// Notes that the reports of so many launches were looked at.
    pub(crate) fn tell(&mut self, launches: u64) {
        while let Some(&(pieces, before)) = self.untold.front()
            && before <= launches
        {
            self.told = pieces;
            self.untold.pop_front();
        }
    }

    /// Takes all events out, for the end of the stream.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = E> + '_ {
        self.posts.drain(..).map(|(event, _)| event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queues pieces of one launch each.
    fn launch(posts: &mut Posts<u32>, times: u64) {
        for _ in 0..times {
            posts.queued.pieces += 1;
            posts.queued.ops += 1;
            posts.queued.launches += 1;
            posts.queued.time += 1;
        }
    }

    /// Passes the posts up to an event; which were asked, and which handed out.
    fn pass(posts: &mut Posts<u32>, upto: u32) -> (Vec<u32>, Vec<u32>) {
        let (mut asked, mut given) = (Vec::new(), Vec::new());
        let passed = |event: &u32| {
            asked.push(*event);
            Ok::<_, ()>(*event <= upto)
        };
        let any = posts.advance(passed, |event| given.push(event)).unwrap();
        assert_eq!(any, !given.is_empty());
        (asked, given)
    }

    #[test]
    fn posts_are_due_now_and_then_and_found_by_what_is_before_them() {
        let mut posts = Posts::new();
        assert!(!posts.is_open() && posts.is_idle());
        launch(&mut posts, EVERY - 1);
        assert!(posts.is_open() && !posts.is_due());
        assert_eq!(posts.behind(3), None);
        launch(&mut posts, 1);
        assert!(posts.is_due());
        posts.put(1);
        assert!(!posts.is_open() && !posts.is_idle());
        launch(&mut posts, EVERY);
        posts.put(2);
        assert_eq!(posts.behind(1), Some(&1));
        assert_eq!(posts.behind(EVERY), Some(&1));
        assert_eq!(posts.behind(EVERY + 1), Some(&2));
        assert_eq!(posts.behind(2 * EVERY + 1), None);
        assert_eq!(posts.newest(), Some(&2));
        assert_eq!(posts.outstanding(), 2 * (EVERY + 1));
        assert_eq!(posts.time(), 2 * EVERY);
        assert_eq!(posts.time_to_next(), EVERY);
        assert_eq!(posts.leaving(EVERY + 1), Some(&1));
        assert_eq!(posts.leaving(EVERY), Some(&2));
        assert_eq!(posts.behind_op(EVERY + 1), Some(&1));
        assert_eq!(posts.behind_op(EVERY + 2), Some(&2));
    }

    #[test]
    fn passing_asks_few_posts_and_hands_out_their_events() {
        let mut posts = Posts::new();
        for event in 1..=40 {
            launch(&mut posts, EVERY);
            posts.put(event);
        }
        assert_eq!(pass(&mut posts, 0), (vec![1], vec![]));
        assert_eq!(posts.ended(), &Point::default());
        let (asked, given) = pass(&mut posts, 25);
        assert!(asked.len() <= 7, "{asked:?}");
        assert_eq!(given, (1..=25).collect::<Vec<_>>());
        assert_eq!(posts.ended().pieces, 25 * EVERY);
        assert_eq!(posts.outstanding(), 15 * (EVERY + 1));
        pass(&mut posts, 40);
        assert!(posts.is_idle());
        assert_eq!((posts.time(), posts.time_to_next()), (0, 0));
        assert_eq!(pass(&mut posts, 40), (vec![], vec![]));
    }

    #[test]
    fn an_error_leaves_things_as_they_were() {
        let mut posts = Posts::new();
        launch(&mut posts, 3);
        posts.put(1);
        let failed = posts.advance(|_| Err("no"), |_| unreachable!());
        assert_eq!(failed, Err("no"));
        assert_eq!(posts.newest(), Some(&1));
    }

    #[test]
    fn work_is_told_when_its_reports_were_looked_at() {
        let mut posts = Posts::new();
        launch(&mut posts, 5);
        posts.put(1);
        launch(&mut posts, 5);
        posts.put(2);
        pass(&mut posts, 1);
        posts.tell(0);
        assert_eq!(posts.told(), 0);
        posts.tell(5);
        assert_eq!(posts.told(), 5);
        pass(&mut posts, 2);
        posts.tell(9);
        assert_eq!(posts.told(), 5);
        posts.tell(10);
        assert_eq!(posts.told(), 10);
    }

    #[test]
    fn work_without_launches_is_told_at_once() {
        let mut posts = Posts::new();
        posts.queued.pieces = 1;
        posts.queued.ops = 1;
        posts.put(7);
        pass(&mut posts, 7);
        posts.tell(0);
        assert_eq!(posts.told(), 1);
        assert!(posts.is_idle());
    }
}
