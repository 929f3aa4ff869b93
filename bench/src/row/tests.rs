use super::*;

fn row() -> Row {
    let at = |ms| Spread::exactly(ms);
    Row {
        scenario: Scenario::S10,
        allocator: "Bump".into(),
        call: Call::Lane,
        case: "fill 95 %".into(),
        size: None,
        fill: Some(95),
        n: 256,
        pool_bytes: 1 << 30,
        floors: Some(Floors {
            empty: at(0.5),
            store: at(2.0),
            bump: at(3.0),
            fence: at(4.0),
        }),
        metrics: vec![
            Metric::new(Metric::TOTAL, Unit::Millis, at(6.0)),
            Metric::new(Metric::THROUGHPUT, Unit::MopsPerSecond, at(6.0)),
        ],
        right: true,
        status: OK.into(),
    }
}

#[test]
fn times_alone_have_a_ratio_to_the_store_kernel() {
    let mut row = row();
    let ratio = |row: &Row, name| row.ratio(row.metric(name).unwrap());
    assert_eq!(ratio(&row, Metric::TOTAL), Some(3.0));
    assert_eq!(ratio(&row, Metric::THROUGHPUT), None);
    assert!(!row.metrics[1].lower_is_better);
    row.floors = None;
    assert_eq!(ratio(&row, Metric::TOTAL), None);
}

#[test]
fn a_large_request_is_set_beside_one_of_a_page() {
    let sized = |size, n, ms| Row {
        scenario: Scenario::S1,
        size: Some(size),
        n,
        metrics: vec![Metric::new(
            Metric::MALLOC,
            Unit::Millis,
            Spread::exactly(ms),
        )],
        ..row()
    };
    // Twice the bytes in three times the time.
    let page = sized(PAGE, 1000, 1.0);
    let mut large = sized(4 * PAGE, 500, 3.0);
    large.relate(std::slice::from_ref(&page));
    let each = large.metric(Metric::MALLOC_BYTE).unwrap();
    assert!((each.value.median - 1.5).abs() < 1e-9 && each.lower_is_better);
    assert_eq!(large.metric(Metric::FREE_BYTE), None);
    // Not beside another allocator's, nor of small requests.
    let mut other = sized(4 * PAGE, 500, 3.0);
    other.allocator = "Other".into();
    other.relate(std::slice::from_ref(&page));
    let mut small = sized(16, 500, 3.0);
    small.relate(&[page]);
    assert_eq!((other.metrics.len(), small.metrics.len()), (1, 1));
}

#[test]
fn what_scales_is_set_beside_the_fence() {
    let mut free = row();
    free.scenario = Scenario::S3;
    free.metrics = vec![Metric::new(
        Metric::FREE,
        Unit::Millis,
        Spread::exactly(6.0),
    )];
    free.relate(&[]);
    let ratio = free.metric(Metric::FREE_FENCE).unwrap();
    assert_eq!(ratio.value, Spread::exactly(1.5));
}

#[test]
fn times_of_programs_are_set_beside_those_of_bump() {
    let timed = |allocator: &str, case: &str, ms| Row {
        scenario: Scenario::S14,
        allocator: allocator.into(),
        case: case.into(),
        metrics: vec![Metric::new("probe", Unit::Millis, Spread::exactly(ms))],
        ..row()
    };
    let earlier = [
        timed("Other", "10 rows", 1.0),
        timed("Bump", "20 rows", 8.0),
        timed("Bump", "10 rows", 2.0),
    ];
    let mut row = timed("WarpHeap", "10 rows", 3.0);
    row.relate(&earlier);
    let ratio = row.metric("probe/Bump").unwrap();
    assert_eq!(ratio.value, Spread::exactly(1.5));
    let mut alone = timed("WarpHeap", "30 rows", 3.0);
    alone.relate(&earlier);
    assert_eq!(alone.metrics.len(), 1);
}

#[test]
fn rows_survive_json_and_know_their_place() {
    let row = row();
    assert_eq!(row.place(), Some(95.0));
    let text = serde_json::to_string(&row).unwrap();
    assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
}
